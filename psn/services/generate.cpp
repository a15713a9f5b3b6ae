#include "psn/services/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/data/store.h"
#include "psn/io/atomic_file.h"
#include "psn/services/output_directory.h"
#include "psn/services/run_report.h"
#include "psn/services/shared_stream.h"
#include "psn/services/trace_writing.h"

namespace psn::services {
namespace {

// The last trace that is there must be what the model makes now.
void require_same_model(TraceSource& stream, data::StoreWriter& writer, const std::string& store) {
  std::vector<Trace> last;
  stream.take(1, last);
  if (writer.has(writer.size() - 1, last.front())) return;
  throw DataError(
      fmt::format("trace store '{}': the model makes another trace {} than is there; it "
                  "must have changed",
                  store, writer.size() - 1));
}

// What ranks do for the one that has the store: it is asked to stop, and says so.
GenerationResult help_to_generate(Simulator& simulator, const SimulationOptions& s, Host& host) {
  const WorkScope work(host, {.label = s.model});
  SharedStream(simulator, stored_stream(s, 0, nullptr), host.ranks()).help();
  all_failures(simulator, host);
  return {};
}

}  // namespace

GenerationResult generate(const GenerationJob& job, Host& host) {
  const auto simulator = open_simulator(job.simulation, host);
  return generate(*simulator, job, host);
}

GenerationResult generate(Simulator& simulator, const GenerationJob& job, Host& host) {
  const SimulationOptions& s = job.simulation;
  if (!host.ranks().leads()) return help_to_generate(simulator, s, host);
  data::StoreWriter writer(job.store, {{simulator.name(), s.seed}}, simulator.addresses(),
                           job.map_bytes);
  const std::uint64_t before = writer.size();
  const auto hint = [&] {
    return fmt::format("; '{}' has {} traces: the same command goes on", job.store, writer.size());
  };
  const WorkScope work(host, {.label = s.model, .total = s.count, .rescue = hint});
  host.work_goes_on_from(before);
  const Stopwatch clock;
  const std::uint64_t first = before < s.count ? std::max<std::uint64_t>(before, 1) - 1 : s.count;
  // Ranks stop between two messages only.
  Monitor* monitor = host.ranks().alone() ? &host.monitor() : nullptr;
  SharedStream stream(simulator, stored_stream(s, first, monitor), host.ranks());
  if (before < s.count) {
    if (before > 0) require_same_model(stream, writer, job.store);
    if (!job.config.empty()) write_file_atomically(job.store + "/" + kConfigFile, job.config);
    write_traces(stream, writer,
                 {.until = s.count,
                  .commit_every = job.commit_every,
                  .monitor = &host.monitor(),
                  .committed = [&] { host.work_advances(); }});
  }
  stream.finish();
  GenerationResult result{
      .model = simulator.name(), .traces = writer.size(), .new_traces = writer.size() - before};
  result.traces_per_second = static_cast<double>(result.new_traces) / clock.seconds();
  result.failures = all_failures(simulator, host);
  if (writer.size() < s.count) result.left = hint();
  return result;
}

}  // namespace psn::services
