// Runs of a model's prior, kept in a trace store: each question is answered from those that are
// there, and makes only those that are missing. So is the next question, about other observations,
// and training (`data`). Internal header of the services.
//
// A run is made as in training, with what can be observed drawn by the model, and weighed by how
// probable the user's values were in its place: importance sampling from the prior. That is exact
// if the program does not go on with what was observed; a few runs are replayed with the
// observations in place to see that it does not.
#pragma once

#include <string>

#include "psn/core/posterior.h"
#include "psn/data/store.h"
#include "psn/infer/engines.h"
#include "psn/services/infer.h"

namespace psn::services {

class KeptRuns {
 public:
  // Makes the store, or opens it: the seed of its runs is then the store's. Throws InvalidArgument
  // for observed latents, DataError for a store of another model.
  KeptRuns(const InferenceJob& job, Simulator& simulator, Host& host);

  std::uint64_t found() const { return found_; }  // that were there
  // "; 'runs' has 200 runs, ..." to end a message with.
  std::string hint() const;

  // Of options.samples runs, or all if there are more. Throws InvalidArgument for a program that
  // goes on with what was observed; Interrupted, with all that was made in the store.
  Posterior posterior(const EngineOptions& options);

 private:
  void make(std::uint64_t runs);
  Trace weighed(Trace trace) const;
  void expect_same_when_observed(const std::vector<Trace>& traces, const EngineOptions& options);

  const InferenceJob& job_;
  Simulator& simulator_;
  Host& host_;
  const std::uint64_t seed_;
  data::StoreWriter writer_;
  const std::uint64_t found_;
  bool checked_ = false;
};

}  // namespace psn::services
