#include "experiments/program_synthesis/markov.h"

#include "psn/base/numerics.h"
#include "psn/base/rng.h"
#include "psn/core/model.h"

namespace psn::program_synthesis {
namespace {

constexpr Kind kStart = Kind::kFor;  // as at the start of a body: nothing to close, no if before

}  // namespace

// Makes the simulator's decisions in its place.
class MarkovBaseline::Author : public Channel {
 public:
  struct Impossible {};

  Author(const MarkovBaseline& baseline, const Rng& rng) : baseline_(baseline), rng_(rng) {}

  Value ask(const Request& request) override {
    const auto depth = depth_of_kind(request.address->name());
    if (!depth) return request.distribution->draw(rng_);
    const auto known = baseline_.counts_.find({before_, *depth});
    if (known == baseline_.counts_.end()) throw Impossible();
    Value kind = Distribution(Categorical(Value(known->second))).draw(rng_);
    if (request.distribution->log_prob(kind) == -kInfinity) throw Impossible();
    before_ = static_cast<Kind>(kind.integer());
    return kind;
  }

 private:
  const MarkovBaseline& baseline_;
  Rng rng_;
  Kind before_ = kStart;
};

void MarkovBaseline::add(const std::vector<Statement>& statements) {
  Kind before = kStart;
  for (const Statement& statement : statements) {
    ++counts_[{before, statement.depth}][static_cast<std::size_t>(statement.kind)];
    before = statement.kind;
  }
}

double MarkovBaseline::validity(std::uint64_t count, std::uint64_t seed) const {
  const Model simulator = model();
  AddressTable table;
  AddressCache addresses(table);
  std::uint64_t valid = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Author author(*this, Rng(seed, i, 0x6d61));
    Context context(author, addresses);
    try {
      simulator.program(context);
      ++valid;
    } catch (const Author::Impossible&) {
    }
  }
  return static_cast<double>(valid) / static_cast<double>(count);
}

}  // namespace psn::program_synthesis
