// psn data: traces of a model on disk.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/data_export.h"
#include "apps/psn/models.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/data_summary.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/output_directory.h"
#include "apps/psn/ranks.h"
#include "apps/psn/shared_stream.h"
#include "psn/base/atomic_file.h"
#include "psn/base/error.h"
#include "psn/data/merge.h"
#include "psn/data/store.h"
#include "psn/train/trainer.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

// ---- generate ---------------------------------------------------------------------------------

struct GenerateOptions {
  CommonOptions common;
  SimulationOptions simulation;
  double commit_every = 1;
  double map_gib = 0;

  std::size_t map_bytes() const { return static_cast<std::size_t>(map_gib * (1 << 30)); }
};

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

// The last trace that is there must be what the model makes now.
void require_same_model(TraceSource& stream, data::StoreWriter& writer, const std::string& out) {
  std::vector<Trace> last;
  stream.take(1, last);
  if (writer.has(writer.size() - 1, last.front())) return;
  throw DataError(
      fmt::format("trace store '{}': the model makes another trace {} than is there; it "
                  "must have changed",
                  out, writer.size() - 1));
}

// Until `count` traces are there. Trace i is from random stream i, so the store depends on model
// and seed alone.
void generate(TraceSource& stream, data::StoreWriter& writer, std::uint64_t count,
              double commit_every, Watch& watch) {
  const Unsaved unsaved(&watch.monitor());
  std::vector<Trace> traces;
  Pace pace;
  double committed = watch.seconds();
  while (writer.size() < count && !watch.monitor().stop.load()) {
    const double before = watch.seconds();
    try {
      stream.take(pace.chunk(), traces);
    } catch (const Interrupted&) {
      break;
    } catch (...) {
      writer.commit();  // what came before the simulator failed
      throw;
    }
    try {
      for (const Trace& trace : traces) writer.append(trace);
    } catch (const InvalidArgument&) {
      writer.commit();  // what came before the trace that no store can hold
      throw;
    }
    watch.monitor().traces.fetch_add(traces.size());
    pace.took(watch.seconds() - before);
    if (watch.seconds() - committed < commit_every) continue;
    writer.commit();
    committed = watch.seconds();
  }
  writer.commit();
}

// The traces that training on the model itself would use, without the first.
StreamOptions stream_options(const GenerateOptions& options, std::uint64_t first,
                             Monitor* monitor) {
  const SimulationOptions& s = options.simulation;
  TrainOptions traces;
  traces.seed = options.common.seed;
  traces.traces = s.count;
  traces.max_length = s.max_length;
  traces.simulation = s.parallelism;
  traces.monitor = monitor;
  StreamOptions stream = training_stream(traces);
  stream.first = first;
  return stream;
}

// What ranks do for the one that has the store.
void help_to_generate(Simulator& simulator, const GenerateOptions& options) {
  const Watch watch({.label = options.simulation.model});  // rank 0 is asked to stop, and says so
  SharedStream(simulator, stream_options(options, 0, nullptr)).help();
  Json unused;
  report_failures(simulator, unused, true);
}

void generate_command(const GenerateOptions& options, const CLI::App& command) {
  const SimulationOptions& s = options.simulation;
  const OutputDirectory writable(s.out);
  const auto simulator = load_simulator(s, s.model);
  if (!ranks().leads()) return help_to_generate(*simulator, options);
  data::StoreWriter writer(s.out, {{simulator->name(), options.common.seed}},
                           simulator->addresses(), options.map_bytes());
  const std::uint64_t before = writer.size();
  const auto hint = [&] {
    return fmt::format("; '{}' has {} traces: the same command goes on", s.out, writer.size());
  };
  Watch watch({.label = s.model,
               .total = s.count,
               .time_limit = s.time_limit,
               .progress = !options.common.quiet,
               .last_words = hint});
  watch.start_at(before);
  Json result{{"store", s.out}, {"model", simulator->name()}, {"seed", options.common.seed}};
  const std::uint64_t first = before < s.count ? std::max<std::uint64_t>(before, 1) - 1 : s.count;
  // Ranks stop between two messages only.
  Monitor* monitor = ranks().alone() ? &watch.monitor() : nullptr;
  SharedStream stream(*simulator, stream_options(options, first, monitor));
  if (before < s.count) {
    if (before > 0) require_same_model(stream, writer, s.out);
    write_file_atomically(s.out + "/config.toml", effective_config(command));
    generate(stream, writer, s.count, options.commit_every, watch);
  }
  stream.finish();
  const double rate = static_cast<double>(writer.size() - before) / watch.seconds();
  result["traces"] = writer.size();
  result["new_traces"] = writer.size() - before;
  result["traces_per_second"] = rate;
  report_failures(*simulator, result, options.common.quiet);
  if (writer.size() < s.count) throw InterruptedWork(hint());
  if (options.common.json) {
    fmt::print("{}\n", result.dump(2));
  } else {
    fmt::print("{}: {} traces, {} of them new, {:.0f} traces/s\n", s.out, writer.size(),
               writer.size() - before, rate);
  }
}

void add_generate_command(CLI::App& data) {
  auto* command = data.add_subcommand("generate", "run a model and keep its traces in a store");
  auto options = std::make_shared<GenerateOptions>();
  options->simulation.add_to(*command, "traces that the store will have");
  command->get_option("--out")->required()->description(
      "the store: a folder; if it is there, generation goes on where it stopped");
  command
      ->add_option("--commit-every", options->commit_every,
                   "seconds from one commit to the next: what is lost at most if psn is killed")
      ->capture_default_str()
      ->check(finite_between(0, 1e6));
  command
      ->add_option("--map-size", options->map_gib,
                   "GiB that the store may grow to, reserved as addresses, not as memory; 0: 1024, "
                   "or what 'ulimit -v' leaves room for")
      ->capture_default_str()
      ->check(finite_between(0, 1 << 16));
  options->common.add_to(*command);
  command->callback([options, command] { generate_command(*options, *command); });
}

// ---- info, verify -----------------------------------------------------------------------------

struct StoreOptions {
  CommonOptions common;
  std::string store;
  std::uint64_t sampled = 100'000;

  CLI::App* add_to(CLI::App& data, const std::string& name, const std::string& help) {
    auto* command = data.add_subcommand(name, help);
    command->add_option("store,--store", store, "folder of a trace store")->required();
    common.add_to(*command);
    return command;
  }
};

void add_info_command(CLI::App& data) {
  auto options = std::make_shared<StoreOptions>();
  auto* command = options->add_to(data, "info", "what is in a store");
  command
      ->add_option("--sampled", options->sampled,
                   "traces to look at for lengths and frequencies, evenly spread; 0: all")
      ->capture_default_str();
  command->callback([options] {
    data::StoreReader reader(options->store);
    const Json info = store_info(reader, options->sampled);
    fmt::print("{}", options->common.json ? info.dump(2) + "\n" : info_text(info));
  });
}

void add_verify_command(CLI::App& data) {
  auto options = std::make_shared<StoreOptions>();
  auto* command = options->add_to(data, "verify", "read all of a store and check it");
  command->callback([options] {
    data::StoreReader reader(options->store);
    Watch watch(
        {.label = options->store, .total = reader.size(), .progress = !options->common.quiet});
    for (std::uint64_t i = 0; i < reader.size(); ++i) {
      if (watch.monitor().stop.load()) throw Interrupted();
      reader.read(i);
      watch.monitor().traces.fetch_add(1, std::memory_order_relaxed);
    }
    if (options->common.json) {
      fmt::print("{}\n", Json{{"store", options->store},
                              {"traces", reader.size()},
                              {"addresses", reader.dictionary().addresses().size()},
                              {"clean", true}}
                             .dump(2));
    } else {
      fmt::print("{}: {} traces, {} addresses, all clean\n", options->store, reader.size(),
                 reader.dictionary().addresses().size());
    }
  });
}

// ---- merge, export ----------------------------------------------------------------------------

struct MergeOptions {
  CommonOptions common;
  std::vector<std::string> stores;
  std::string out;
};

void add_merge_command(CLI::App& data) {
  auto* command = data.add_subcommand("merge", "several stores of one model as one");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("stores,--stores", options->stores, "folders of trace stores")
      ->required()
      ->expected(1, 1 << 20);
  command->add_option("--out", options->out, "the new store: a folder")->required();
  options->common.add_to(*command);
  command->callback([options] {
    Watch watch({.label = options->out, .progress = !options->common.quiet});
    const std::uint64_t traces = data::merge(options->stores, options->out, [&] {
      if (watch.monitor().stop.load()) throw Interrupted();
      watch.monitor().traces.fetch_add(1, std::memory_order_relaxed);
    });
    if (options->common.json) {
      fmt::print("{}\n", Json{{"store", options->out}, {"traces", traces}}.dump(2));
    } else {
      fmt::print("{}: {} traces of {} stores\n", options->out, traces, options->stores.size());
    }
  });
}

void add_export_command(CLI::App& data) {
  auto options = std::make_shared<StoreOptions>();
  auto what = std::make_shared<ExportOptions>();
  auto* command = options->add_to(data, "export", "named quantities of each trace as a table");
  command->add_option("--out", what->out, "the file to write, ending in .csv or .npz")->required();
  command->add_option("--query", what->queries, "names or addresses; all names by default")
      ->allow_extra_args(false);
  command->add_option("--first", what->first, "number of the first trace")->capture_default_str();
  command->add_option("--count", what->count, "traces at most; 0: to the end")
      ->capture_default_str();
  command->callback([options, what] {
    data::StoreReader reader(options->store);
    const std::uint64_t rows = export_traces(reader, *what);
    if (options->common.json) {
      fmt::print("{}\n", Json{{"file", what->out}, {"traces", rows}}.dump(2));
    } else {
      fmt::print("{}: {} traces\n", what->out, rows);
    }
  });
}

}  // namespace

void add_data_command(CLI::App& program) {
  auto* data = program.add_subcommand("data", "traces of a model on disk");
  data->require_subcommand(0, 1);
  data->callback([data] {
    if (data->get_subcommands().empty()) throw CLI::CallForHelp();
  });
  add_generate_command(*data);
  add_info_command(*data);
  add_verify_command(*data);
  add_merge_command(*data);
  add_export_command(*data);
}

}  // namespace psn::app
