#include <array>

#include "psn/services/diagnose.h"

namespace psn::services {
namespace {

struct Explanation {
  const char* phrase;  // of the warning, in psn/services/warnings.cpp
  const char *reason, *remedy;
};

constexpr std::array kExplanations{
    Explanation{
        "Pareto k-hat",
        "few of the draws come to where the posterior is; the tail of the weights is so heavy that "
        "averages depend on the luck of single traces, and their stated errors are too small",
        "more traces (`count`) if k-hat is just above its threshold; else an inference network for "
        "the model (psn train inference, then `engine` ic with `network`), or a Markov chain "
        "(`engine` rmh)"},
    Explanation{
        "the effective sample size is only",
        "a mean is off by about the posterior's standard deviation over the root of this number, "
        "and below 50 the diagnostics themselves are guesses",
        "more traces (`count`): they raise it in proportion; or proposals that fit better "
        "(`engine` "
        "ic with a `network`, `engine` rmh)"},
    Explanation{"the effective sample size is not known",
                "chains that never moved, or samples too few to tell, say nothing of their error",
                "more traces (`count`); for chains that accept nothing, `engine` rmh, or is"},
    Explanation{
        "split R-hat",
        "the halves of the chains differ by more than chance: they still remember where they "
        "began, or each is caught in a part of the posterior",
        "more samples (`count`), a longer `burn_in`, `engine` rmh instead of lmh for continuous "
        "latents; if chains stay apart, there are several modes: `engine` is or ic"},
    Explanation{
        "the observations are unlike those that",
        "a network knows posteriors of data as it was trained on; far from them it "
        "extrapolates, and nothing in its answer shows that",
        "look at the value, its unit and its order; psn criticise asks whether the model "
        "can explain it; `engine` ic with `defensive` 0.1 weighs what the network proposes"},
    Explanation{"the network proposes no better than the prior",
                "held-out traces are as probable under the prior as under the network's proposals: "
                "it has learned nothing, or there is nothing to be learned",
                "more `traces`, smaller updates (`learning_rate`), wider layers "
                "(`observation_layers`); see whether the observations depend on the latents at all "
                "(psn simulate)"},
    Explanation{"the network proposes worse than linear regressions",
                "on held-out traces its proposals are less probable than normals around what a "
                "linear regression predicts: the observations tell more than it has learned",
                "more `traces` (`from` goes on), more updates (`batch_size`), wider layers "
                "(`observation_layers`)"},
    Explanation{"nats per trace from the simulator",
                "the surrogate's traces are not yet those of the simulator: every result computed "
                "in it is of another program, however small its error looks",
                "more `traces` (`from` goes on), a larger network; psn compare shows where it "
                "differs; psn infer with `correct` weighs its posterior to be the simulator's"},
    Explanation{
        "nats per trace from its simulator",
        "the result was computed in a surrogate whose traces are not yet those of its "
        "simulator; what ESS, k-hat and R-hat say is about the surrogate alone",
        "train it longer (psn train surrogate with `from`), look where it differs (psn "
        "compare), or weigh its posterior to be the simulator's (psn infer with `correct`)"},
    Explanation{
        "took another path than the surrogate's",
        "choices that nobody controls, or that the surrogate knows badly, led the simulator "
        "elsewhere; these runs weigh nothing",
        "`parameters` names the latents that matter: they alone are proposed then; or let "
        "the surrogate control these choices, or train it longer"},
    Explanation{
        "estimates of the likelihood are noisy",
        "a chain stays where an estimate was too high by luck, until another is as lucky; it "
        "is exact in the end, and takes long",
        "more `parameters`, so that less is nuisance; importance sampling (`engine` is) where "
        "the prior is not much wider than the posterior"},
    Explanation{"is from its simulator is not known",
                "its training held no traces out, so nothing says how close it came",
                "psn compare measures it; train with held-out traces (`validation`)"},
};

// By the way that warnings are written: "what: why; what to do".
Finding taken_apart(const std::string& warning) {
  Finding finding{.warning = warning};
  const auto colon = warning.find(": "), semicolon = warning.rfind("; ");
  if (colon == std::string::npos) return finding;
  const bool both = semicolon != std::string::npos && semicolon > colon;
  finding.reason = warning.substr(colon + 2, both ? semicolon - colon - 2 : std::string::npos);
  if (both) finding.remedy = warning.substr(semicolon + 2);
  return finding;
}

}  // namespace

Finding explained(const std::string& warning) {
  for (const auto& [phrase, reason, remedy] : kExplanations) {
    if (warning.find(phrase) != std::string::npos) return {warning, reason, remedy};
  }
  return taken_apart(warning);
}

}  // namespace psn::services
