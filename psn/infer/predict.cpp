#include "psn/infer/predict.h"

#include <algorithm>
#include <atomic>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/core/visits.h"

namespace psn {
namespace {

constexpr std::uint32_t kPredictiveRows = 0x70726564;  // substream

bool before_site(const Draws::Latent& latent, std::uint32_t site) {
  return latent.site < site;
}

// Hands out the values of a draw, its latents sorted by site, wherever its addresses come up.
class DrawGuide : public Guide {
 public:
  DrawGuide(const std::vector<std::string>& sites, const std::vector<const Draws::Draw*>& draws,
            std::uint64_t first, std::atomic<std::uint64_t>& new_latents)
      : draws_(draws), first_(first), new_latents_(new_latents) {
    for (std::uint32_t i = 0; i < sites.size(); ++i) number_.emplace(sites[i], i);
  }

  void begin(Slot slot, const Ticket& ticket) override {
    if (slot >= cursors_.size()) cursors_.resize(slot + 1);
    cursors_[slot].draw = draws_[ticket.trace - first_];
    cursors_[slot].visits.restart();
  }

  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Value* value = find(requests[i]);
      choices[i] = value ? Choice{*value, 0.0}
                         : Choice{requests[i].distribution->draw(*requests[i].rng), std::nullopt};
    }
  }

  const Value* replay(const Pending& request) override {
    return request.role == Role::kSample ? find(request) : nullptr;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0}, kNotAsked = kNone - 1;

  struct Cursor {
    const Draws::Draw* draw = nullptr;
    Visits visits;  // to sites
  };

  const Value* find(const Pending& request) {
    const Value* value = next(cursors_[request.slot], site(*request.address));
    const Distribution& distribution = *request.distribution;
    if (value &&
        (value->shape() != distribution.shape() || distribution.log_prob(*value) == -kInfinity)) {
      value = nullptr;
    }
    if (!value) new_latents_.fetch_add(1, std::memory_order_relaxed);
    return value;
  }

  // The value of the site's next visit.
  static const Value* next(Cursor& cursor, std::uint32_t site) {
    if (site == kNone) return nullptr;
    const auto& latents = cursor.draw->latents;
    const auto first = std::lower_bound(latents.begin(), latents.end(), site, before_site);
    const auto earlier = static_cast<long>(cursor.visits.count(site) - 1);
    if (latents.end() - first <= earlier || first[earlier].site != site) return nullptr;
    return &first[earlier].value;
  }

  std::uint32_t site(const Address& address) {
    if (address.id >= site_of_.size()) site_of_.resize(address.id + 1, kNotAsked);
    std::uint32_t& site = site_of_[address.id];
    if (site == kNotAsked) {
      const auto found = number_.find(address.text);
      site = found == number_.end() ? kNone : found->second;
    }
    return site;
  }

  const std::vector<const Draws::Draw*>& draws_;
  std::uint64_t first_;
  std::atomic<std::uint64_t>& new_latents_;
  std::map<std::string, std::uint32_t> number_;
  std::vector<std::uint32_t> site_of_;  // by address id
  std::vector<Cursor> cursors_;
};

// Which draw each run is of.
std::vector<const Draws::Draw*> resampled(const std::vector<Draws::Draw>& draws,
                                          const EngineOptions& options) {
  if (draws.empty()) throw ModelError("there are no draws of the posterior to predict from");
  Posterior weights({}, draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) weights.put(i, {}, draws[i].log_weight);
  Rng rng(options.seed, 0, kPredictiveRows);
  std::vector<const Draws::Draw*> chosen;
  for (const std::size_t row : weights.resampled_rows(options.samples, rng)) {
    chosen.push_back(&draws[row]);
  }
  return chosen;
}

}  // namespace

Prediction predict(Simulator& simulator, const Draws& draws, const EngineOptions& options) {
  std::vector<Draws::Draw> kept = draws.kept();
  for (Draws::Draw& draw : kept) {
    std::stable_sort(draw.latents.begin(), draw.latents.end(),
                     [](const auto& a, const auto& b) { return before_site(a, b.site); });
  }
  const std::vector<const Draws::Draw*> chosen = resampled(kept, options);
  std::atomic<std::uint64_t> new_latents{0};
  Posterior samples(options.queries, options.samples);
  std::vector<char> failed(options.samples);
  RunOptions run = options.run_options(nullptr);
  run.seed = seed_for(DrawsFor::kPrediction, options.seed);
  run.failed = [&](std::uint64_t i) { failed[i - options.first] = 1; };
  run_traces(
      simulator, options.samples,
      [&] {
        return std::make_unique<DrawGuide>(draws.sites(), chosen, options.first, new_latents);
      },
      [&](std::uint64_t i, Trace& trace) { samples.put(i - options.first, trace, 0); }, run,
      options.parallelism);
  return {samples.filter([&](std::size_t i) { return !failed[i]; }), new_latents};
}

}  // namespace psn
