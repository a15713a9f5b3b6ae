// A simulator served to any engine that speaks PPX: psn itself, PyProb, others.
//
//   int main(int argc, char** argv) {
//     return psn::ppx::serve_main({"gaussian", program}, argc, argv);
//   }
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
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
  // Do not send the program's own data along with its observations. An engine that learns from
  // runs, as PyProb's does, would take them for what always comes out.
  bool withhold_data = false;
  // Runs under way at once, each of another engine. Further engines wait for theirs, at most until
  // one that has a run has been silent for so long.
  std::size_t max_runs = 256;
  std::chrono::milliseconds patience = std::chrono::minutes(1);
  const std::atomic<bool>* stop = nullptr;
  // Told where the simulator serves, once it does.
  std::function<void(const std::string& endpoint)> ready;
  // Told of runs that failed, a line each. PPX has no word for it: the engine gets a Reset.
  std::function<void(const std::string& line)> log;
};

// Until `stop` is true. Each engine has a run of its own. Of a model that is not reentrant only one
// can be under way: other engines get their turn when it is over, or its engine gone. Whatever a
// peer sends, the worst that comes of it is the end of its own run.
//
// PPX does not tell a program what was observed. An engine of psn does; with another, observe()
// returns the program's own data, or NaN if it has none. A factor is served as the observation of
// an exponential variable with that log density. Throws InvalidArgument if it cannot serve there.
void serve(Simulator& simulator, const ServeOptions& options);

// A whole main(): serves at argv[1] or the default endpoint until SIGINT or SIGTERM.
int serve_main(Model model, int argc, char** argv);

}  // namespace psn::ppx
