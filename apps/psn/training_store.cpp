#include "apps/psn/training_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/psn/options.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/data/shuffle.h"
#include "psn/data/store_source.h"

namespace psn::app {

void StoreArguments::add_to(CLI::App& command) {
  command.add_option("--data", data,
                     "a trace store (psn data generate) to learn from, instead of a model");
  command
      .add_option("--epochs", epochs, "with --data: passes over the store; 0: as --traces has it")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
}

TrainingStore::TrainingStore(const StoreArguments& arguments)
    : reader_(arguments.data), epochs_(arguments.epochs) {}

void TrainingStore::configure(TrainOptions& options) const {
  if (epochs_ == 0) return;
  const auto epoch = static_cast<double>(data::Split::training_count(reader_.size()));
  options.traces = static_cast<std::uint64_t>(std::max(1.0, std::round(epochs_ * epoch)));
}

void TrainingStore::require_name(const std::string& name, const std::string& option,
                                 bool observed) const {
  std::set<std::string> known;
  for (const data::Form& form : reader_.dictionary().forms()) {
    if (!form.address() || (observed && form.role() != Role::kObserve)) continue;
    known.insert(form.address()->name());
    known.insert(form.address()->variable->site->name);
  }
  if (known.contains(name)) return;
  const std::vector<std::string> words(known.begin(), known.end());
  throw InvalidArgument(fmt::format("{}: '{}' has no {} named '{}'{}", option, reader_.path(),
                                    observed ? "observation" : "variable", name,
                                    suggestion(name, words)));
}

void TrainingStore::check_variable_names(const NetworkConfig& network) const {
  for (const auto& [name, layers] : network.variable_embedding) {
    require_name(name, "--variable_embedding", false);
  }
  for (const auto& [name, layers] : network.observe_embedding) {
    require_name(name, "--observe_embedding", true);
  }
}

Progress TrainingStore::train(Network& network, const TrainOptions& options,
                              const ProgressSink& progress) {
  const std::vector<Trace> held_out = data::held_out_traces(reader_, options.validation_traces);
  data::StoreSource source(reader_, {.seed = options.seed, .count = options.traces});
  return train_network(source, held_out, network, options, progress);
}

}  // namespace psn::app
