#include "psn/services/training_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/data/shuffle.h"
#include "psn/data/store_source.h"

namespace psn::services {

TrainingStore::TrainingStore(const StoredTraces& traces, const std::string& place)
    : reader_(traces.store), epochs_(traces.epochs) {
  if (place.empty()) return;
  const auto json = nlohmann::json::parse(place, nullptr, false);
  try {
    epoch_ = {json.at("epoch"), json.at("begin"), json.at("traces")};
    traces_ = json.at("in_all");
  } catch (const nlohmann::json::exception&) {
    throw DataError("the checkpoint's place in the store is damaged");
  }
}

std::string TrainingStore::place(std::uint64_t traces) const {
  const data::Epoch epoch = source_->epoch(share_.count_of(traces));
  return nlohmann::json{{"epoch", epoch.number},
                        {"begin", epoch.begin},
                        {"traces", epoch.traces},
                        {"in_all", traces_}}
      .dump();
}

void TrainingStore::configure(TrainOptions& options) const {
  if (traces_ > 0) options.traces = traces_;
  if (epochs_ == 0 || traces_ > 0) return;
  const auto epoch = static_cast<double>(data::Split::training_count(reader_.size()));
  options.traces = static_cast<std::uint64_t>(std::max(1.0, std::round(epochs_ * epoch)));
}

void TrainingStore::require_name(const std::string& name, const std::string& field,
                                 bool observed) const {
  std::set<std::string> known;
  for (const data::Form& form : reader_.dictionary().forms()) {
    if (!form.address() || (observed && form.role() != Role::kObserve)) continue;
    known.insert(form.address()->name());
    known.insert(form.address()->variable->site->name);
  }
  if (known.contains(name)) return;
  const std::vector<std::string> words(known.begin(), known.end());
  throw InvalidArgument(fmt::format("{}: '{}' has no {} named '{}'{}", field, reader_.path(),
                                    observed ? "observation" : "variable", name,
                                    suggestion(name, words)));
}

void TrainingStore::check_variable_names(const NetworkConfig& network) const {
  for (const auto& [name, layers] : network.variable_embedding) {
    require_name(name, "`variable_embedding`", false);
  }
  for (const auto& [name, layers] : network.observe_embedding) {
    require_name(name, "`observe_embedding`", true);
  }
}

std::vector<Trace> TrainingStore::some_traces(std::uint64_t count) {
  return data::held_out_traces(reader_, count);
}

Progress TrainingStore::train(Network& network, const TrainOptions& options,
                              const ProgressSink& progress) {
  const std::vector<Trace> held_out = data::held_out_traces(reader_, options.validation_traces);
  traces_ = options.traces;
  share_ = training_share(options);
  source_ = std::make_unique<data::StoreSource>(
      reader_, data::StoreSourceOptions{
                   .seed = options.seed,
                   .count = options.traces,
                   .share = share_,
                   .first = options.resume ? share_.count_of(options.resume->traces) : 0,
                   .epoch = epoch_,
                   .traces = agreed_size(options)});
  return train_network(*source_, held_out, network, options, progress);
}

// Ranks may have opened a growing store at different moments; alone, each epoch takes what is
// there.
std::uint64_t TrainingStore::agreed_size(const TrainOptions& options) const {
  if (!options.ranks || options.ranks->alone()) return 0;
  std::string size = std::to_string(reader_.size());
  options.ranks->broadcast(size);
  return std::stoull(size);
}

}  // namespace psn::services
