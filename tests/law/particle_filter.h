// A bootstrap particle filter in a few lines, on top of Session: each slot is a particle, and
// particles meet at every observation.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "psn/base/numerics.h"
#include "psn/core/session.h"

namespace psn {

struct Filtered {
  double log_evidence = 0;
  std::vector<Trace> particles;  // equally weighted
};

// How many copies of each particle go on: systematic resampling.
inline std::vector<int> copies(const std::vector<double>& log_weights, Rng& rng) {
  const double total = log_sum_exp(log_weights);
  const auto n = static_cast<double>(log_weights.size());
  const double offset = rng.uniform();
  std::vector<int> result;
  double before = 0;
  for (const double w : log_weights) {
    const double after = before + n * std::exp(w - total);
    result.push_back(static_cast<int>(std::ceil(after - offset) - std::ceil(before - offset)));
    before = after;
  }
  return result;
}

// Lets all traces under way go on, each to its next observation or its end; who waits there.
inline std::vector<Pending> next_observations(Session& session) {
  std::vector<Pending> meeting;
  while (meeting.size() < session.running()) {
    for (const Pending& request : session.advance()) {
      if (request.role == Role::kObserve) {
        meeting.push_back(request);
      } else if (session.take(request) == Session::Taken::kChoice) {
        session.choose({&request, 1});
      }
    }
  }
  return meeting;
}

// Puts copies of those that go on several times in the places of those that do not.
template <class Copied>
void resample(Session& session, std::vector<int> count, std::uint32_t generation, Copied copied) {
  Slot to = 0;
  for (Slot from = 0; from < count.size(); ++from) {
    for (int copy = 1; copy < count[from]; ++copy) {
      while (count[to] > 0) ++to;
      session.fork(from, to, {to, generation});
      copied(from, to);
      ++to;
    }
  }
}

inline Filtered particle_filter(Ensemble& ensemble, Guide& guide, const Observations& data,
                                std::uint64_t seed, bool fork_before_answers = false) {
  const RunOptions options{.seed = seed, .observations = &data};
  Session session(ensemble, guide, options);
  const auto n = static_cast<Slot>(session.width());
  Rng rng(seed, 0, 0x7066);
  Filtered result;
  std::vector<double> before(n);  // log weights when all particles were made equal last
  for (Slot slot = 0; slot < n; ++slot) session.start(slot, {slot, 0});
  for (std::uint32_t generation = 1; session.running() > 0; ++generation) {
    std::vector<Pending> meeting = next_observations(session);
    if (meeting.empty()) break;
    if (fork_before_answers && generation == 1) {  // all go on as the first, which changes nothing
      for (Slot to = 1; to < n; ++to) session.fork(0, to, {to, 1'000'000});
      meeting.erase(std::remove_if(meeting.begin(), meeting.end(),
                                   [](const Pending& request) { return request.slot > 0; }),
                    meeting.end());
      while (meeting.size() < n) {
        for (const Pending& request : session.advance()) meeting.push_back(request);
      }
    }
    for (const Pending& request : meeting) session.take(request);
    std::vector<double> gained(n);
    for (Slot slot = 0; slot < n; ++slot) {
      gained[slot] = session.trace(slot).log_weight - before[slot];
    }
    result.log_evidence += log_sum_exp(gained) - std::log(n);
    resample(session, copies(gained, rng), generation, [](Slot, Slot) {});
    for (Slot slot = 0; slot < n; ++slot) before[slot] = session.trace(slot).log_weight;
  }
  for (Slot slot = 0; slot < n; ++slot) result.particles.push_back(session.trace(slot));
  return result;
}

}  // namespace psn
