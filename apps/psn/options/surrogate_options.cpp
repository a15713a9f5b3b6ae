#include "apps/psn/options/surrogate_options.h"

namespace psn::app {

void SurrogateArguments::add_to(CLI::App& command) {
  command
      .add_option("--unknown", unknown,
                  "of a surrogate, at addresses it does not know: renormalise (never go there), "
                  "stop (an error), simulator (go on in --simulator)")
      ->capture_default_str()
      ->check(CLI::IsMember({"renormalise", "stop", "simulator"}));
  command.add_option("--simulator", simulator, "the model that a surrogate stands for");
}

services::SurrogateUse SurrogateArguments::use() const {
  using Unknown = SurrogateOptions::Unknown;
  return {unknown == "stop"        ? Unknown::kStop
          : unknown == "simulator" ? Unknown::kSimulator
                                   : Unknown::kRenormalise,
          simulator};
}

}  // namespace psn::app
