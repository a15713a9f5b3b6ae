#include "psn/services/graph.h"

#include <mutex>

#include "psn/infer/importance.h"

namespace psn::services {

GraphResult graph(const GraphJob& job, Host& host) {
  ForwardRun forward(job, host);
  TransitionGraph transitions(job.nodes);
  std::mutex mutex;
  RunOptions run = forward.run_options(DrawsFor::kGraph);
  run.failed = [](std::uint64_t) {};  // the report has them
  run_traces(
      forward.simulator(), job.simulation.count, prior_guide(),
      [&](std::uint64_t, Trace& trace) {
        const std::lock_guard lock(mutex);
        transitions.add(trace);
      },
      run, job.simulation.parallelism);
  return {transitions.traces(), transitions.edges(), forward.report()};
}

}  // namespace psn::services
