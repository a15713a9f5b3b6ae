// What the experiment finds, before it is written down.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "experiments/common/experiment_folder.h"
#include "experiments/composite_cure/field.h"
#include "experiments/composite_cure/plan.h"
#include "psn/core/posterior.h"

namespace psn::composite_cure {

// The three observed parts of Table 1.
struct ObservedCase {
  const char* name;
  int shift;
};
inline constexpr std::array kCases{ObservedCase{"minus", -1}, ObservedCase{"nominal", 0},
                                   ObservedCase{"plus", 1}};

struct Inferred {
  Posterior posterior;
  double traces_per_second = 0;  // 0: not measured in this run
};

struct CaseResults {
  Inferred judge;  // prior proposal, many traces; the first of them are Table 1's ground truth
  Inferred ic_simulator, ic_surrogate, ic_smallest;
};

struct TuningPoint {
  std::uint64_t traces;            // of the cross-section, trained on
  double from_slab, from_nothing;  // rms error of the field; C
};

struct Speeds {  // traces a second, all cores
  double simulator_1d = 0, simulator_2d = 0, ic_simulator_2d = 0;
  double surrogate = 0, surrogate_smallest = 0, surrogate_paper_size = 0;
};

struct Results {
  TrainedNetwork surrogate, inference, smallest;
  FieldError field, field_smallest;
  std::vector<CaseResults> cases;  // as kCases
  Speeds speeds;
  double untuned = 0;  // rms error of the 1D surrogate in the cross-section
  std::vector<TuningPoint> tuning;
};

ExperimentReport write_report(const Results& results, const Plan& plan,
                              const ExperimentRequest& request);

}  // namespace psn::composite_cure
