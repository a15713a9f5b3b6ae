// What the experiment keeps in its directory, so that it can be interrupted: stores of traces and
// trained networks.
#pragma once

#include <string>

#include "experiments/composite_cure/results.h"
#include "psn/core/ensemble.h"
#include "psn/data/store.h"

namespace psn::composite_cure {

class Kept {
 public:
  // Makes the directory.
  explicit Kept(const ExperimentRequest& request);

  std::string path(const std::string& name) const { return request_.directory + "/" + name; }
  // The store of that name with at least so many traces; makes those that are missing. Throws
  // Interrupted; what was made by then stays.
  std::unique_ptr<data::StoreReader> store(const std::string& name, Simulator& simulator,
                                           std::uint64_t traces) const;
  // The network of that name, if it was trained by this recipe on so many stored traces; else
  // trained, from the last checkpoint on if there is one.
  Trained network(const std::string& name, const Preset& recipe, data::StoreReader& store,
                  std::uint64_t stored, const std::vector<Trace>& held_out) const;

  void say(const std::string& what) const {
    if (request_.status) request_.status(what);
  }
  void stop_if_asked() const;

 private:
  const ExperimentRequest& request_;
};

// Trains on the first `stored` traces of a store, or goes on training if the options say from
// where.
void train_on_store(Trained& trained, const TrainOptions& options, data::StoreReader& store,
                    std::uint64_t stored, const std::vector<Trace>& held_out,
                    const ProgressSink& progress);

}  // namespace psn::composite_cure
