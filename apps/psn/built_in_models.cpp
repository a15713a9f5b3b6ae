#include "apps/psn/built_in_models.h"

#include "experiments/composite_cure/composite_cure.h"
#include "experiments/control_flow/control_flow.h"
#include "experiments/program_synthesis/program_synthesis.h"
#include "experiments/reference/reference.h"
#include "experiments/zoo/zoo.h"

namespace psn::app {

std::vector<ModelGroup> built_in_groups() {
  ModelGroup animals{"zoo", "of real character, with data and answers (docs/zoo.md)", {}};
  for (const zoo::Program& program : zoo::programs()) animals.models.push_back(program.model);
  return {{"paper",
           "the paper's experiments",
           {control_flow::model(), program_synthesis::model(), composite_cure::model(),
            composite_cure::model_2d()}},
          {"reference",
           "small, with known posteriors",
           {reference::gaussian(), reference::gaussian_marsaglia(), reference::hmm(),
            reference::hmm_64(), reference::branching(), reference::epidemic()}},
          std::move(animals)};
}

std::vector<Model> built_in_models() {
  std::vector<Model> models;
  for (const ModelGroup& group : built_in_groups()) {
    models.insert(models.end(), group.models.begin(), group.models.end());
  }
  return models;
}

}  // namespace psn::app
