// A probabilistic grammar: sentences such as "she saw the man with a telescope", in which the
// telescope belongs to the man or to the seeing; each word is misheard now and then. Up to twelve
// words are listened to.
#include <string>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

enum Symbol { kDeterminer, kNoun, kVerb, kPreposition, kPronoun, kNounPhrase, kVerbPhrase, kAside };

// Words: the, a | man, telescope, hill | saw, heard | with, on | she; and silence.
constexpr double kSilence = 10;
struct Words {
  const char* name;
  double first, count;
};
constexpr Words kWords[] = {
    {"determiner", 0, 2}, {"noun", 2, 3}, {"verb", 5, 2}, {"preposition", 7, 2}, {"pronoun", 9, 1}};

// psn simulate would do: here, she saw the man with a telescope.
const std::vector<double> kHeard = {9, 5, 0, 2, 7, 1, 3, 10, 10, 10, 10, 10};

Distribution hearing(double word) {
  std::vector<double> chance(11, word == kSilence ? 0 : 0.01);
  chance[10] = 0;
  chance[static_cast<std::size_t>(word)] = word == kSilence ? 1 : 0.91;
  return Categorical(chance);
}

void grammar_program(Context& ctx) {
  constexpr std::int64_t kListening = 12;
  const double wordiness = ctx.sample(Beta(2, 4), {.name = "wordiness"});
  std::vector<Symbol> rest = {kVerbPhrase, kNounPhrase};  // the next one is last
  double attached = 0;                                    // asides that belong to the verb
  std::int64_t heard = 0;
  while (!rest.empty() && heard < kListening) {
    const Symbol symbol = rest.back();
    rest.pop_back();
    if (symbol == kNounPhrase) {
      const auto rule =
          ctx.sample(Categorical({0.4 * (1 - wordiness), 0.6 * (1 - wordiness), wordiness}),
                     {.name = "noun_phrase"});
      if (rule == 0) rest.push_back(kPronoun);
      if (rule == 1) rest.insert(rest.end(), {kNoun, kDeterminer});
      if (rule == 2) rest.insert(rest.end(), {kAside, kNounPhrase});
    } else if (symbol == kVerbPhrase) {
      const bool aside = ctx.sample(Bernoulli(wordiness / 2), {.name = "verb_phrase"}) == 1;
      rest.insert(rest.end(), {aside ? kAside : kNounPhrase, aside ? kVerbPhrase : kVerb});
      attached += aside;
    } else if (symbol == kAside) {
      rest.insert(rest.end(), {kNounPhrase, kPreposition});
    } else {
      const auto [name, first, count] = kWords[symbol];
      const std::vector<double> even(static_cast<std::size_t>(count), 1);
      const double word = first + ctx.sample(Categorical(even), {.name = name});
      ctx.observe(hearing(word), {.name = "heard", .index = heard++});
    }
  }
  while (heard < kListening) ctx.observe(hearing(kSilence), {.name = "heard", .index = heard++});
  ctx.tag(attached, {.name = "attached"});
}

}  // namespace

Program grammar() {
  return {.model = {"zoo-grammar", grammar_program, "a probabilistic grammar, misheard"},
          .observed = {{"heard", kHeard}},
          .judged = {{"wordiness"}, {"attached"}},
          .source = "the inside algorithm, under quadrature over the wordiness",
          .answer = [] { return references::grammar(kHeard); }};
}

}  // namespace psn::zoo
