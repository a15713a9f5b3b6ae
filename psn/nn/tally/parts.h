// The parts of which a tally's plan is fitted (psn/nn/tally/fit.h).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "psn/nn/tally/sample.h"

namespace psn {

// How often the sites of a sample come up.
struct Frequencies {
  std::vector<double> visits, traces;  // by site: in all; traces that have it

  explicit Frequencies(const TallySample& sample);
  // Whether it has so many visits on average, in traces that have it.
  bool reach(std::size_t site, double mean) const { return visits[site] >= mean * traces[site]; }
};
// Visits in a trace, on average. Unless some site has kOften of them all is left to the core.
inline constexpr double kOften = 8, kNowAndThen = 4, kRepeatedly = 1.25;

// Goes through the traces of a sample and counts. before(at, counts) and after(at, counts) are
// called for every choice, counts being those of all sources, and end(counts) after every trace.
struct TallyVisits {
  using Visit = std::function<void(std::size_t at, std::span<const TallyCounts>)>;
  Visit before, after;
  std::function<void(std::span<const TallyCounts>)> end;
};
void replay(const TallySample& sample, std::span<const TallySource> sources,
            const TallyVisits& visits);

// Sources that may be worth having: first those of one site, the most visited ones first; of these
// the first `repeated` come up several times in a trace.
struct Candidates {
  std::vector<TallySource> sources;
  std::size_t repeated = 0, singles = 0;

  explicit Candidates(const TallySample& sample);
};

// All differences of so many categories, each in one of its two directions.
std::vector<std::uint32_t> differences_of(std::uint32_t categories);
// By source: those of its differences that tell most of the values that come next, the best first.
inline constexpr std::size_t kMostDifferences = 3;
std::vector<std::vector<std::uint32_t>> best_differences(const TallySample& sample,
                                                         std::span<const TallySource> sources);

// What one measure of each source tells of the values of a site before they are drawn, in nats per
// value; less what chance would explain.
double told_by(const TallySample& sample, const TallySource& source, Measure measure,
               std::uint32_t which, std::uint32_t site);

// A threshold of one measure of one source.
struct TallyStump {
  std::uint32_t source;
  TallyInput input;  // a ramp
  double gain = 0;   // of information, in nats over the sample
};
// Those that tell where the traces go from a site: for each site that may come next, the threshold
// with the largest information gain over all sources, if that is a large part of the entropy; and
// again on the side where there is doubt left. The best first; no two alike.
std::vector<TallyStump> fit_stumps(const TallySample& sample, std::span<const TallySource> sources);

}  // namespace psn
