// A built-in model as a program of its own: ppx_peer MODEL ENDPOINT.
#include <string>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/ppx/server.h"

int main(int argc, char** argv) {
  using namespace psn;
  const std::string wanted = argc > 1 ? argv[1] : "";
  for (const Model& model : {control_flow::model(), reference::gaussian(), reference::hmm(),
                             reference::branching(), reference::gaussian_marsaglia()}) {
    if (model.name == wanted) return ppx::serve_main(model, argc - 1, argv + 1);
  }
  return 64;
}
