#include "psn/services/trace_writing.h"

#include <algorithm>

#include "psn/base/error.h"
#include "psn/services/host.h"
#include "psn/train/trainer.h"

namespace psn::services {
namespace {

// How many traces to wait for at a time: few of a slow simulator, so that none waits long to be
// written.
class Pace {
 public:
  std::size_t chunk() const { return chunk_; }
  void took(double seconds) {
    constexpr double kShort = 0.02, kLong = 0.2;
    if (seconds < kShort) chunk_ = std::min<std::size_t>(2 * chunk_, 1024);
    if (seconds > kLong) chunk_ = std::max<std::size_t>(chunk_ / 2, 1);
  }

 private:
  std::size_t chunk_ = 1;
};

}  // namespace

StreamOptions stored_stream(const SimulationOptions& s, std::uint64_t first, Monitor* monitor) {
  TrainOptions traces;
  traces.seed = s.seed;
  traces.traces = s.count;
  traces.max_length = s.max_length;
  traces.simulation = s.parallelism;
  traces.monitor = monitor;
  StreamOptions stream = training_stream(traces);
  stream.first = first;
  return stream;
}

void write_traces(TraceSource& source, data::StoreWriter& writer, const TraceWriting& options) {
  const Unsaved unsaved(options.monitor);
  const auto stopped = [&] { return options.monitor && options.monitor->stop.load(); };
  const auto commit = [&] {
    writer.commit();
    if (options.committed) options.committed();
  };
  std::vector<Trace> traces;
  Pace pace;
  const Stopwatch clock;
  double committed = 0;
  while (writer.size() < options.until && !stopped()) {
    const double before = clock.seconds();
    try {
      source.take(pace.chunk(), traces);
    } catch (const Interrupted&) {
      break;
    } catch (...) {
      commit();  // what came before the simulator failed
      throw;
    }
    try {
      for (const Trace& trace : traces) writer.append(trace);
    } catch (const InvalidArgument&) {
      commit();  // what came before the trace that no store can hold
      throw;
    }
    if (options.monitor) options.monitor->traces.fetch_add(traces.size());
    pace.took(clock.seconds() - before);
    if (clock.seconds() - committed < options.commit_every) continue;
    commit();
    committed = clock.seconds();
  }
  commit();
}

}  // namespace psn::services
