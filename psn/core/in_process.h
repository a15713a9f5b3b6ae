// InProcess: a Model as a Simulator, each simulation on a fiber of its own.
#pragma once

#include <memory>
#include <string>

#include "psn/core/ensemble.h"
#include "psn/core/model.h"

namespace psn {

class InProcess : public Simulator {
 public:
  explicit InProcess(Model model) : model_(std::move(model)) {}

  const std::string& name() const override { return model_.name; }
  AddressTable& addresses() override { return addresses_; }
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;
  std::size_t max_simulations() const override {
    return model_.reentrant ? Simulator::max_simulations() : 1;
  }
  const Model& model() const { return model_; }

 private:
  Model model_;
  AddressTable addresses_;
};

}  // namespace psn
