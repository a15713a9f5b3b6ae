// InProcess: a Model as a Simulator, each simulation on a fiber of its own.
//
// A run out of which the program throws has failed: it is counted, and told to the task. psn's own
// errors (psn::Error), which say that a program did what none may, end the work instead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "psn/core/ensemble.h"
#include "psn/core/model.h"

namespace psn {

class InProcess : public Simulator {
 public:
  // More than `max_failures` runs that failed end the work with ModelError.
  explicit InProcess(Model model, std::uint64_t max_failures = 0)
      : model_(std::move(model)), failures_(max_failures) {}

  const std::string& name() const override { return model_.name; }
  AddressTable& addresses() override { return addresses_; }
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;
  std::size_t max_simulations() const override {
    return model_.reentrant ? Simulator::max_simulations() : 1;
  }
  std::uint64_t runs() const override { return failures_.begun(); }
  Failures failures() const override { return failures_.failures(); }
  void forget_failures() override { failures_.forget(); }
  const Model& model() const { return model_; }

 private:
  Model model_;
  AddressTable addresses_;
  FailureLog failures_;
};

}  // namespace psn
