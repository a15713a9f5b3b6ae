#include "psn/services/kept_runs.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <mutex>

#include "psn/base/error.h"
#include "psn/core/missing.h"
#include "psn/infer/replay.h"
#include "psn/services/trace_writing.h"
#include "psn/train/stream.h"

namespace psn::services {
namespace {

constexpr std::size_t kReplayed = 20;

// The seed that a store was begun with, if there is one.
std::uint64_t seed_of(const std::string& store, std::uint64_t otherwise) {
  std::error_code error;
  if (!std::filesystem::exists(store, error)) return otherwise;
  return data::StoreReader(store).origins().front().seed;
}

bool is_drawn(const Entry& entry) {
  return (entry.role == Role::kSample || entry.role == Role::kObserve) && !entry.given;
}

// Makes every choice of a trace again, whoever made it.
class WholeReplay : public Guide {
 public:
  explicit WholeReplay(const std::vector<Trace>& traces) : traces_(traces) {}

  void begin(Slot slot, const Ticket& ticket) override {
    if (slot >= places_.size()) places_.resize(slot + 1);
    places_[slot] = {&traces_[ticket.trace], 0};
  }
  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Value* old = find(requests[i]);
      choices[i] = old ? Choice{*old, 0.0}
                       : Choice{requests[i].distribution->draw(*requests[i].rng), std::nullopt};
    }
  }
  const Value* replay(const Pending& request) override { return find(request); }

 private:
  const Value* find(const Pending& request) {
    auto& [trace, at] = places_[request.slot];
    for (std::size_t i = at; i < trace->entries.size(); ++i) {
      const Entry& entry = trace->entries[i];
      if (!is_drawn(entry) || entry.address != request.address) continue;
      at = i + 1;
      return &entry.value;
    }
    return nullptr;
  }

  const std::vector<Trace>& traces_;
  std::vector<std::pair<const Trace*, std::size_t>> places_;
};

bool same_densities(const Trace& a, const Trace& b) {
  if (!same_path(a, b) || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const double p = a.entries[i].log_prob, q = b.entries[i].log_prob;
    if (p != q && !(std::abs(p - q) <= 1e-9 * (1 + std::abs(p)))) return false;
  }
  return true;
}

}  // namespace

KeptRuns::KeptRuns(const InferenceJob& job, Simulator& simulator, Host& host)
    : job_(job),
      simulator_(simulator),
      host_(host),
      seed_(seed_of(job.keep, job.simulation.seed)),
      writer_(job.keep, {{simulator.name(), seed_}}, simulator.addresses()),
      found_(writer_.size()) {}

std::string KeptRuns::hint() const {
  return fmt::format("; '{}' has {} runs: the same command goes on", job_.keep,
                     writer_.committed());
}

void KeptRuns::make(std::uint64_t runs) {
  if (runs <= writer_.size()) return;
  SimulationOptions s = job_.simulation;
  s.seed = seed_;
  s.count = runs;
  TraceStream source(simulator_, stored_stream(s, writer_.size(), &host_.monitor()));
  write_traces(source, writer_, {.until = runs, .monitor = &host_.monitor(), .committed = [&] {
                                   host_.work_advances();
                                 }});
  if (writer_.size() < runs) throw Interrupted();
}

// As it would be with the observations in the place of what was drawn.
Trace KeptRuns::weighed(Trace trace) const {
  for (Entry& entry : trace.entries) {
    if (!is_drawn(entry)) continue;
    const auto seen = job_.observations.find(*entry.address, entry.value.size());
    if (!seen || gaps(*seen) == Gaps::kAll) continue;
    if (entry.role == Role::kSample) {
      throw InvalidArgument(fmt::format(
          "`keep` answers from runs of the prior: '{}' is a latent, so it cannot be observed there",
          entry.address->text));
    }
    trace.log_joint -= entry.log_prob;
    entry.given = true;
    if (gaps(*seen) == Gaps::kNone) {
      entry.log_prob = entry.distribution->log_prob(*seen);
      entry.value = *seen;
    } else {
      entry.log_prob = log_prob_of_present(*entry.distribution, *seen);
    }
    trace.log_joint += entry.log_prob;
    trace.log_likelihood += entry.log_prob;
  }
  trace.log_weight = trace.log_likelihood;
  return trace;
}

void KeptRuns::expect_same_when_observed(const std::vector<Trace>& traces,
                                         const EngineOptions& options) {
  RunOptions run_options = options.run_options(&job_.observations);
  run_options.monitor = nullptr;
  run_options.failed = [](std::uint64_t) {};
  std::mutex mutex;
  bool same = true;
  run_traces(
      simulator_, traces.size(), [&] { return std::make_unique<WholeReplay>(traces); },
      [&](std::uint64_t i, Trace& trace) {
        const bool own = same_densities(trace, traces[i]);
        const std::lock_guard lock(mutex);
        same &= own;
      },
      run_options, options.parallelism);
  checked_ = true;
  if (same) return;
  throw InvalidArgument(fmt::format(
      "`keep`: with the observations in place the runs in '{}' would have been others. The program "
      "goes on with what was observed, has data of its own, or has changed: without `keep` it is "
      "run for these observations",
      job_.keep));
}

Posterior KeptRuns::posterior(const EngineOptions& options) {
  make(options.samples);
  data::StoreReader reader(
      job_.keep, std::shared_ptr<AddressTable>(std::shared_ptr<void>(), &simulator_.addresses()));
  if (!checked_) {
    std::vector<Trace> first;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(kReplayed, reader.size()); ++i) {
      first.push_back(weighed(reader.read(i)));
    }
    expect_same_when_observed(first, options);
  }
  Posterior posterior(options.queries, reader.size());
  for (std::uint64_t i = 0; i < reader.size(); ++i) {
    const Trace trace = weighed(reader.read(i));
    posterior.put(i, trace, trace.log_weight);
    if (options.draws) options.draws->offer(i, trace, trace.log_weight);
  }
  return posterior;
}

}  // namespace psn::services
