#include "psn/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/nn/network_json.h"
#include "psn/nn/tally/json.h"

namespace psn {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, Tensor>;

json sites_json(const TallySample& sample) {
  json sites = json::array();
  for (const TallySample::Site& site : sample.sites()) {
    json entry = to_json(site.type);
    entry["site"] = site.text;
    sites.push_back(std::move(entry));
  }
  return sites;
}

json to_json(const Checkpoint& checkpoint) {
  const TrainingState& s = checkpoint.state;
  json result{{"batches", s.batches},
              {"traces", s.traces},
              {"seconds", s.seconds},
              {"rate", s.rate},
              {"lowest_loss", s.lowest_loss},
              {"loss_sum", s.loss_sum},
              {"kl_sum", s.kl_sum},
              {"first_summed", s.first_summed},
              {"reported", s.reported},
              {"stale", s.plateau.stale},
              {"reductions", s.plateau.reductions},
              {"config", checkpoint.config},
              {"source", checkpoint.source}};
  if (s.growth.tally.traces() > 0) result["tally"] = sites_json(s.growth.tally);
  return result;
}

// Counts as doubles, as births are; what stands for "never" or "given" is -1.
constexpr std::uint64_t kNone = ~std::uint64_t{0};
static_assert(kNone == GrowthState::kGiven && kNone == ScalingEstimator::kNever);
double as_double(std::uint64_t count) {
  return count == kNone ? -1 : static_cast<double>(count);
}

template <class Count>
Tensor counts(const std::vector<Count>& values) {
  std::vector<double> doubles(values.size());
  std::transform(values.begin(), values.end(), doubles.begin(), as_double);
  return Tensor::from(doubles, {static_cast<std::int64_t>(values.size())});
}

Tensor floats(const std::vector<std::vector<float>>& rows) {
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  Tensor tensor{Tensor::Type::kFloat32,
                {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)},
                {}};
  for (const auto& row : rows) {
    tensor.bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
  }
  return tensor;
}

// As a tensor because a loss may be infinite, which JSON has no word for.
Tensor to_tensor(const Validation& v) {
  return Tensor::from({static_cast<double>(v.traces), static_cast<double>(v.unseen), v.loss, v.kl,
                       v.standard_error},
                      {5});
}

Tensors to_tensors(const TrainingState& state) {
  Tensors tensors;
  tensors["last_updates"] = counts(state.last_updates);
  tensors["fitted"] = counts(state.growth.fitted);
  if (state.plateau.best) tensors["best"] = to_tensor(*state.plateau.best);
  if (const TallySample& tally = state.growth.tally; tally.traces() > 0) {
    tensors["tally.lengths"] = counts(tally.lengths());
    tensors["tally.sites"] = counts(tally.at());
    tensors["tally.values"] =
        Tensor::from(tally.values(), {static_cast<std::int64_t>(tally.values().size())});
  }
  for (std::size_t id = 0; id < state.growth.estimators.size(); ++id) {
    const ScalingEstimator::Data& e = state.growth.estimators[id].data();
    if (e.count == 0) continue;
    tensors[fmt::format("{}.reservoir", id)] = floats(e.reservoir);
    tensors[fmt::format("{}.fallback", id)] = floats({e.fallback});
    tensors[fmt::format("{}.estimate", id)] =
        Tensor::from({as_double(e.count), as_double(e.next_fit), e.bounds.low, e.bounds.high,
                      static_cast<double>(e.bounds.vary)},
                     {5});
  }
  return tensors;
}

// Believes nothing, as the reader of networks does.
class Reader {
 public:
  Reader(const std::string& label, const NetworkFile& file)
      : json_(label), tensors_(file.training_tensors), network_(*file.network) {
    header_ = json_.parse(file.training, "training");
  }

  std::string text(const char* key) const { return json_.get<std::string>(header_, key); }

  TrainingState state() {
    TrainingState s;
    s.batches = count("batches");
    s.traces = count("traces");
    s.seconds = number("seconds");
    s.rate = number("rate");
    s.lowest_loss = number("lowest_loss");
    s.loss_sum = number("loss_sum");
    s.kl_sum = number("kl_sum");
    s.first_summed = count("first_summed");
    s.reported = count("reported");
    s.plateau.stale = count("stale");
    s.plateau.reductions = count("reductions");
    if (tensors_.contains("best")) s.plateau.best = validation();
    if (s.batches != network_.parameters().step || s.first_summed > s.batches ||
        s.reported > s.batches) {
      json_.fail("its counts of updates do not agree");
    }
    s.last_updates = counts("last_updates", false, s.batches);
    s.growth.fitted = counts("fitted", true);
    if (s.last_updates.size() > network_.parameters().block_count() ||
        s.growth.fitted.size() != network_.size()) {
      json_.fail("its training is that of another network");
    }
    s.growth.estimators.resize(network_.size());
    for (NodeId id = 0; id < network_.size(); ++id) {
      if (tensors_.contains(fmt::format("{}.estimate", id))) {
        s.growth.estimators[id] = estimator(id);
      }
    }
    if (header_.contains("tally")) s.growth.tally = tally();
    if (used_ != tensors_.size()) json_.fail("has surplus tensors of training");
    return s;
  }

 private:
  std::uint64_t count(const char* key) const { return json_.get<std::uint64_t>(header_, key); }
  double number(const char* key) const { return json_.get<double>(header_, key); }

  TallySample tally() {
    const json& list = header_["tally"];
    if (!list.is_array()) json_.fail("'tally' is not a list");
    std::vector<TallySample::Site> sites;
    for (const json& entry : list) {
      sites.push_back({json_.get<std::string>(entry, "site"), read_tally_type(json_, entry)});
    }
    const auto numbers = [&](const char* name) {
      const auto values = counts(name, false, std::numeric_limits<std::uint32_t>::max());
      return std::vector<std::uint32_t>(values.begin(), values.end());
    };
    auto lengths = numbers("tally.lengths"), at = numbers("tally.sites");
    auto values = tensor("tally.values", Tensor::Type::kFloat64, 1).doubles();
    try {
      return {std::move(sites), std::move(lengths), std::move(at), std::move(values)};
    } catch (const InvalidArgument& error) {
      json_.fail(error.what());
    }
  }

  Validation validation() {
    const auto numbers = tensor("best", Tensor::Type::kFloat64, 1).doubles();
    if (numbers.size() != 5 || std::isnan(numbers[2])) fail("best");
    return {as_count(numbers[0], false, kMost, "best"), as_count(numbers[1], false, kMost, "best"),
            numbers[2], numbers[3], numbers[4]};
  }

  const Tensor& tensor(const std::string& name, Tensor::Type type, std::size_t dimensions) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.type != type ||
        found->second.shape.size() != dimensions) {
      fail(name);
    }
    ++used_;
    return found->second;
  }
  [[noreturn]] void fail(const std::string& name) const {
    json_.fail(fmt::format("tensor 'training.{}' is missing or not what it should be", name));
  }

  std::uint64_t as_count(double value, bool may_be_none, std::uint64_t most,
                         const std::string& name) const {
    if (may_be_none && value == -1) return kNone;
    if (!(value >= 0 && value <= static_cast<double>(most) && value == std::floor(value))) {
      fail(name);
    }
    return static_cast<std::uint64_t>(value);
  }

  std::vector<std::uint64_t> counts(const std::string& name, bool may_be_none,
                                    std::uint64_t most = kMost) {
    std::vector<std::uint64_t> result;
    for (const double value : tensor(name, Tensor::Type::kFloat64, 1).doubles()) {
      result.push_back(as_count(value, may_be_none, most, name));
    }
    return result;
  }

  std::vector<std::vector<float>> rows(const std::string& name, std::size_t count) {
    const Tensor& t = tensor(name, Tensor::Type::kFloat32, 2);
    if (t.shape[0] != static_cast<std::int64_t>(count)) fail(name);
    const auto columns = static_cast<std::size_t>(t.shape[1]);
    std::vector<std::vector<float>> result(count, std::vector<float>(columns));
    for (std::size_t row = 0; row < count && columns > 0; ++row) {
      std::memcpy(result[row].data(), t.bytes.data() + row * columns * sizeof(float),
                  columns * sizeof(float));
    }
    return result;
  }

  ScalingEstimator estimator(NodeId id) {
    const std::string name = fmt::format("{}.estimate", id);
    const auto numbers = tensor(name, Tensor::Type::kFloat64, 1).doubles();
    if (numbers.size() != 5 || std::isnan(numbers[2]) || std::isnan(numbers[3])) fail(name);
    const std::size_t components = network_.node(id).value.components();
    ScalingEstimator::Data data;
    data.count = as_count(numbers[0], false, kMost, name);
    data.next_fit = as_count(numbers[1], true, kMost, name);
    data.bounds = {numbers[2], numbers[3], numbers[4] != 0};
    data.reservoir = rows(fmt::format("{}.reservoir", id), components);
    data.fallback = rows(fmt::format("{}.fallback", id), 1)[0];
    const auto filled = std::min<std::uint64_t>(data.count, ScalingEstimator::kReservoir);
    if (components == 0 || data.reservoir[0].size() != filled || filled == 0 ||
        data.fallback.size() != components) {
      fail(name);
    }
    return ScalingEstimator(std::move(data));
  }

  static constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  JsonReader json_;
  json header_;
  const Tensors& tensors_;
  const Network& network_;
  std::size_t used_ = 0;
};

}  // namespace

CheckpointFile::CheckpointFile(std::string path)
    : path_(std::move(path)), best_path_(path_.substr(0, path_.size() - 4) + ".best.psn") {}

bool CheckpointFile::exists() const {
  std::error_code error;
  return std::filesystem::exists(path_, error);
}

// The best network goes first: found with an older state beside it, it is one that training will
// come to again before its end.
void CheckpointFile::save(const Checkpoint& checkpoint) {
  const TrainingState& state = checkpoint.state;
  if (state.best && state.best != saved_best_) {
    save_network(best_path_, {state.best, ""});
    saved_best_ = state.best;
  }
  NetworkFile file{checkpoint.network, checkpoint.history, true};
  file.training = to_json(checkpoint).dump();
  file.training_tensors = to_tensors(state);
  save_network(path_, file);
}

Checkpoint CheckpointFile::load() {
  const NetworkFile file = load_network(path_);
  if (file.training.empty() || !file.optimizer) {
    throw DataError(fmt::format(
        "'{}' is a network without the state of its training: it cannot be resumed", path_));
  }
  Reader reader(path_, file);
  Checkpoint result{file.network, reader.state(), file.history, reader.text("config"),
                    reader.text("source")};
  if (result.state.plateau.best) {
    result.state.best = load_network(best_path_).network;
    saved_best_ = result.state.best;
  }
  return result;
}

void CheckpointFile::remove() {
  std::error_code error;
  for (const std::string& path : {path_, best_path_}) {
    std::filesystem::remove(path, error);
    if (error) throw DataError(fmt::format("cannot remove '{}': {}", path, error.message()));
  }
}

void CheckpointFile::remove_abandoned() {
  for (const std::string& path : {path_, best_path_}) psn::remove_abandoned(path);
}

}  // namespace psn
