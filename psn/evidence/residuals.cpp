#include "psn/evidence/residuals.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"
#include "psn/evidence/places.h"
#include "psn/evidence/tests.h"

namespace psn::evidence {
namespace {

constexpr std::size_t kDraws = 49;

// Of long vectors fewer traces are looked at, whichever come first: that has nothing to do with
// what is in them.
std::uint64_t traces_for(std::size_t size) {
  constexpr std::uint64_t kNumbers = 400'000, kFewest = 500;
  return std::max(kFewest, kNumbers / size);
}

}  // namespace

class SurrogateResiduals::Watcher : public Follower {
 public:
  Watcher(const Network& network, std::uint64_t seed) : network_(network), seed_(seed) {}

  void begin(std::uint64_t first, std::size_t traces) {
    first_ = first;
    steps_.assign(traces, 0);
  }

  void transition(std::size_t, NodeId from, std::span<const float> logits, std::size_t row,
                  const Indices& indices) override {
    find_targets(network_, from, indices, targets_);
    mask(logits, targets_, possible_);
    Departures& left = departures_[from];
    ++left.count;
    left.rows.resize(std::max(left.rows.size(), possible_.size()));
    const double largest = *std::max_element(possible_.begin(), possible_.end());
    double total = 0;
    for (const float logit : possible_) total += std::exp(logit - largest);
    for (std::size_t r = 1; r < possible_.size(); ++r) {
      const double p = std::exp(possible_[r] - largest) / total;
      left.rows[r].taken += r == row ? 1 : 0;
      left.rows[r].expected += p;
      left.rows[r].variance += p * (1 - p);
    }
  }

  void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) override {
    const std::uint64_t index = first_ + trace;
    const std::size_t size = distribution.size();
    Rng rng(seed_, index, ++steps_[trace]);
    if (index >= traces_for(size)) return;
    std::vector<double> draws(kDraws), densities(kDraws);
    const std::size_t component = size > 1 ? rng.below(size) : 0;
    for (std::size_t i = 0; i < kDraws; ++i) {
      const Value draw = distribution.draw(rng);
      draws[i] = draw[component];
      if (size > 1) densities[i] = distribution.log_prob(draw);
    }
    Found& found = addresses_[entry.address->text];
    found.places.emplace_back(index, place_among(entry.value[component], draws, rng));
    if (size == 1) return;
    found.densities.emplace_back(index,
                                 place_among(distribution.log_prob(entry.value), densities, rng));
  }

  std::map<std::string, AddressResiduals> addresses() const {
    std::map<std::string, AddressResiduals> result;
    for (const auto& [address, found] : addresses_) {
      result[address] = {in_order(found.places), in_order(found.densities)};
    }
    return result;
  }

  std::vector<TransitionResidual> transitions() const {
    std::vector<TransitionResidual> result;
    for (const auto& [from, left] : departures_) {
      const Node& node = network_.node(from);
      for (std::size_t r = 1; r < left.rows.size(); ++r) {
        TransitionResidual& one = result.emplace_back(left.rows[r]);
        one.from = node.text;
        one.to = network_.node(node.successors[r - 1].node).text;
        one.departures = left.count;
      }
    }
    return result;
  }

 private:
  using Places = std::vector<std::pair<std::uint64_t, double>>;  // by trace
  struct Found {
    Places places, densities;
  };
  struct Departures {
    std::uint64_t count = 0;
    std::vector<TransitionResidual> rows;  // 0: unknown
  };

  // The walk takes short traces first: their lengths must not decide which places count.
  static std::vector<double> in_order(Places places) {
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<double> result;
    for (const auto& [trace, place] : places) result.push_back(place);
    return result;
  }

  const Network& network_;
  std::uint64_t seed_, first_ = 0;
  std::vector<std::uint32_t> steps_;  // of each trace so far
  std::map<std::string, Found> addresses_;
  std::map<NodeId, Departures> departures_;
  Targets targets_;
  std::vector<float> possible_;
};

double TransitionResidual::p_value(double tolerance) const {
  const double excess = std::abs(taken - expected) - tolerance * static_cast<double>(departures);
  return std::min(1.0, 2 * bernstein_tail(excess, variance));
}

SurrogateResiduals::SurrogateResiduals(std::shared_ptr<const CompiledNetwork> surrogate,
                                       std::uint64_t seed)
    : surrogate_(std::move(surrogate)),
      watcher_(std::make_unique<Watcher>(surrogate_->network(), seed)) {}
SurrogateResiduals::~SurrogateResiduals() = default;

void SurrogateResiduals::add(std::span<const Trace> traces) {
  watcher_->begin(traces_, traces.size());
  follow(surrogate_, traces, *watcher_);
  traces_ += traces.size();
}

std::map<std::string, AddressResiduals> SurrogateResiduals::addresses() const {
  return watcher_->addresses();
}
std::vector<TransitionResidual> SurrogateResiduals::transitions() const {
  return watcher_->transitions();
}

}  // namespace psn::evidence
