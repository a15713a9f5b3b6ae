// A simulator served to any engine that speaks PPX: psn itself, PyProb, others.
//
//   int main(int argc, char** argv) {
//     return psn::ppx::serve_main({"gaussian", program}, argc, argv);
//   }
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "psn/core/ensemble.h"
#include "psn/core/model.h"
#include "psn/ppx/security.h"

namespace psn::ppx {

inline constexpr const char* kDefaultEndpoint = "tcp://127.0.0.1:5555";

struct ServeOptions {
  std::string endpoint = kDefaultEndpoint;  // port * or 0: the system chooses
  std::uint64_t seed = 0;  // for what the simulator itself draws: a surrogate's way
  ServerKeys keys;
  const std::atomic<bool>* stop = nullptr;
  // Told where the simulator serves, once it does.
  std::function<void(const std::string& endpoint)> ready;
  // Told of runs that failed, a line each. PPX has no word for it: the engine gets a Reset.
  std::function<void(const std::string& line)> log;
};

// Until `stop` is true. One engine and one run at a time.
//
// PPX does not tell a program what was observed. An engine of psn does; with another, observe()
// returns the program's own data, or NaN if it has none. A factor is served as the observation of
// an exponential variable with that log density. Throws InvalidArgument if it cannot serve there.
void serve(Simulator& simulator, const ServeOptions& options);

// A whole main(): serves at argv[1] or the default endpoint until SIGINT or SIGTERM.
int serve_main(Model model, int argc, char** argv);

}  // namespace psn::ppx
