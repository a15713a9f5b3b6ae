#include "apps/psn/built_in_models.h"

#include "experiments/composite_cure/composite_cure.h"
#include "experiments/control_flow/control_flow.h"
#include "experiments/program_synthesis/program_synthesis.h"
#include "experiments/reference/reference.h"

namespace psn::app {

std::vector<Model> built_in_models() {
  return {control_flow::model(),      program_synthesis::model(), composite_cure::model(),
          composite_cure::model_2d(), reference::gaussian(),      reference::gaussian_marsaglia(),
          reference::hmm(),           reference::branching(),     reference::epidemic()};
}

}  // namespace psn::app
