// The trace store beside the training it feeds: traces/s written and read on one core, bytes a
// trace, and how many times faster than training reading is.
//
//   bench_data [traces]     control-flow (short traces), and a program of 1,400 numbers: 200
//   scalars
//                           and a field of 1,200 normals with means of their own and one deviation
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/control_flow/control_flow.h"
#include "psn/core/in_process.h"
#include "psn/data/shuffle.h"
#include "psn/data/store_source.h"
#include "psn/train/trainer.h"

namespace {

// Time on a processor, of all threads or of this one: other work on the machine counts little.
double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void wide(psn::Context& ctx) {
  double sum = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    sum += ctx.sample(psn::Normal(0.01 * sum, 1), {.name = "step", .index = i});
  }
  std::vector<double> means(1200), deviations(1200, 0.1 + 0.01 * std::abs(sum));
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = sum * static_cast<double>(i);
  ctx.observe(psn::Normal(means, deviations), {.name = "field"});
}

double write_rate(psn::Simulator& simulator, const std::string& path, std::uint64_t count) {
  const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
  psn::TrainOptions options;
  options.traces = count;
  psn::TraceStream stream(simulator, psn::training_stream(options));
  psn::data::StoreWriter writer(path, {{simulator.name(), 0}}, simulator.addresses());
  std::vector<psn::Trace> traces;
  while (writer.size() < count) {
    stream.take(512, traces);
    for (const psn::Trace& trace : traces) writer.append(trace);
  }
  writer.commit();
  return static_cast<double>(count) / (seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
}

// In the order of an epoch, checked and decoded.
double read_rate(psn::data::StoreReader& reader) {
  const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t count = psn::data::Split::training_count(reader.size());
  const psn::data::EpochOrder order(count, 1, 0);
  for (std::uint64_t i = 0; i < count; ++i) reader.read(psn::data::Split::training(order(i)));
  return static_cast<double>(count) / (seconds(CLOCK_THREAD_CPUTIME_ID) - start);
}

double training_rate(psn::data::StoreReader& reader, std::uint64_t count, std::size_t lstm_dim) {
  psn::Preset recipe = psn::preset("default");
  recipe.network.core_dim = lstm_dim;
  recipe.training.traces = count;
  psn::Network network(recipe.network, 1);
  psn::data::StoreSource source(reader, {.count = count});
  const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
  psn::train_network(source, {}, network, recipe.training);
  return static_cast<double>(count) / (seconds(CLOCK_THREAD_CPUTIME_ID) - start);
}

void measure(psn::Model model, std::uint64_t count, std::uint64_t trained, std::size_t lstm_dim) {
  psn::InProcess simulator(std::move(model));
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("psn_bench_data_{}", ::getpid());
  const double write = write_rate(simulator, folder.string(), count);
  const double bytes = static_cast<double>(std::filesystem::file_size(folder / "data.mdb"));
  {
    psn::data::StoreReader reader(folder.string());
    const double read = read_rate(reader);
    const double train = training_rate(reader, trained, lstm_dim);
    fmt::print(
        "{:14} {:7.0f} bytes/trace  generated {:9.0f}/s  read {:9.0f}/s  trained {:7.0f}/s  "
        "read : trained {:.1f}\n",
        simulator.name(), bytes / static_cast<double>(count), write, read, train, read / train);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t traces = argc > 1 ? std::stoull(argv[1]) : 300'000;
  measure(psn::control_flow::model(), traces, 20'000, 150);
  measure(psn::Model("wide", wide), traces / 30, 256, 512);
}
