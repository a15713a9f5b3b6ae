#include "psn/infer/engine_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "psn/base/error.h"

namespace psn {
namespace {

using nlohmann::json;

Tensor tensor_of(const std::vector<std::uint64_t>& counts) {
  const std::vector<double> numbers(counts.begin(), counts.end());
  return Tensor::from(numbers, {static_cast<std::int64_t>(numbers.size())});
}

// Everything of a chain but its numbers goes into JSON, addresses by their place in one list.
class Writer {
 public:
  explicit Writer(TensorFile& file) : file_(file) {}

  void add(const ChainState& chain) {
    json entries = json::array(), steps = json::array();
    const Trace& trace = chain.current;
    std::vector<double> numbers{trace.log_joint, trace.log_likelihood, trace.log_weight};
    append(numbers, trace.result);
    for (const Entry& entry : trace.entries) {
      entries.push_back({place(*entry.address), static_cast<int>(entry.role), entry.control,
                         entry.given, entry.value.shape()});
      numbers.push_back(entry.log_prob);
      append(numbers, entry.value);
    }
    for (const ChainState::Step& step : chain.steps) {
      steps.push_back(place(*step.address));
      numbers.insert(numbers.end(), {step.log_step, step.updates});
    }
    numbers.insert(numbers.end(), trace.transitions.begin(), trace.transitions.end());
    const ChainState::Delayed& d = chain.delayed;
    numbers.insert(numbers.end(), {d.log_weight, d.log_moves, d.adapted});
    numbers.insert(numbers.end(), d.log_weights.begin(), d.log_weights.end());
    numbers.insert(numbers.end(), chain.marginal.begin(), chain.marginal.end());
    chains_.push_back({{"id", chain.id},
                       {"runs", chain.runs},
                       {"attempts", chain.attempts},
                       {"iteration", chain.iteration},
                       {"accepted", chain.accepted},
                       {"decisions", chain.decisions},
                       {"started", chain.started},
                       {"result", trace.result.shape()},
                       {"entries", std::move(entries)},
                       {"transitions", trace.transitions.size()},
                       {"steps", std::move(steps)},
                       {"delayed", {d.alongside, d.stay, d.longest, d.log_weights.size()}},
                       {"marginal", chain.marginal.size()},
                       {"below", chain.below.size()}});
    file_.tensors[fmt::format("chain/{}", chains_.size() - 1)] =
        Tensor::from(numbers, {static_cast<std::int64_t>(numbers.size())});
    for (const ChainState& below : chain.below) add(below);
  }

  void finish() {
    file_.metadata["chain_states"] = chains_.dump();
    file_.metadata["addresses"] = addresses_.dump();
  }

 private:
  static void append(std::vector<double>& numbers, const Value& value) {
    numbers.insert(numbers.end(), value.begin(), value.end());
  }

  std::size_t place(const Address& address) {
    const auto [found, added] = places_.try_emplace(&address, places_.size());
    if (added) {
      const Variable& variable = *address.variable;
      const Site& site = *variable.site;
      addresses_.push_back({site.scope, site.base, site.name, site.type,
                            variable.index ? json(*variable.index) : json(), address.instance});
    }
    return found->second;
  }

  TensorFile& file_;
  json chains_ = json::array(), addresses_ = json::array();
  std::unordered_map<const Address*, std::size_t> places_;
};

// Any surprise is an exception of its own, which from_file() puts into words.
class Reader {
 public:
  Reader(const TensorFile& file, AddressTable& table)
      : file_(file), chains_(json::parse(file.metadata.at("chain_states"))) {
    for (const json& a : json::parse(file.metadata.at("addresses"))) {
      const auto scope = a.at(0).get<std::string>(), base = a.at(1).get<std::string>(),
                 name = a.at(2).get<std::string>(), type = a.at(3).get<std::string>();
      VariableKey key{scope, base, name, type, std::nullopt};
      if (!a.at(4).is_null()) key.index = a.at(4).get<std::int64_t>();
      addresses_.push_back(table.address(table.variable(key), a.at(5).get<std::uint32_t>()));
    }
  }

  bool done() const { return next_ == chains_.size(); }

  // The next one, with those below it.
  ChainState chain() {
    const json& from = chains_.at(next_);
    numbers_ = file_.tensors.at(fmt::format("chain/{}", next_++)).doubles();
    at_ = 0;
    ChainState chain{.id = from.at("id"),
                     .runs = from.at("runs"),
                     .attempts = from.at("attempts"),
                     .iteration = from.at("iteration"),
                     .accepted = from.at("accepted"),
                     .decisions = from.at("decisions"),
                     .started = from.at("started"),
                     .current = {},
                     .steps = {},
                     .delayed = {},
                     .marginal = {},
                     .below = {}};
    Trace& trace = chain.current;
    trace.log_joint = number();
    trace.log_likelihood = number();
    trace.log_weight = number();
    trace.result = value(from.at("result"));
    for (const json& e : from.at("entries")) {
      const int role = e.at(1);
      if (role < 0 || role >= static_cast<int>(Role::kFinish)) throw DataError("unknown role");
      Entry& entry = trace.entries.emplace_back();
      entry.address = address(e.at(0));
      entry.role = static_cast<Role>(role);
      entry.control = e.at(2);
      entry.given = e.at(3);
      entry.log_prob = number();
      entry.value = value(e.at(4));
    }
    for (const json& place : from.at("steps")) {
      const double log_step = number();
      chain.steps.push_back({address(place), log_step, number()});
    }
    for (auto left = from.value("transitions", std::size_t{0}); left > 0; --left) {
      trace.transitions.push_back(number());
    }
    if (!from.contains("delayed")) return chain;  // of an earlier psn
    const json& d = from.at("delayed");
    chain.delayed = {.log_weight = number(),
                     .log_moves = number(),
                     .adapted = number(),
                     .alongside = d.at(0),
                     .stay = d.at(1),
                     .longest = d.at(2),
                     .log_weights = {}};
    for (std::size_t left = d.at(3); left > 0; --left) {
      chain.delayed.log_weights.push_back(number());
    }
    for (auto left = from.value("marginal", std::size_t{0}); left > 0; --left) {
      chain.marginal.push_back(number());
    }
    for (std::size_t left = from.at("below"); left > 0; --left)
      chain.below.push_back(this->chain());
    return chain;
  }

 private:
  const Address* address(const json& place) const {
    return addresses_.at(place.get<std::size_t>());
  }
  double number() { return numbers_.at(at_++); }
  Value value(const json& dimensions) {
    const auto shape = dimensions.get<Shape>();
    std::vector<double> components(element_count(shape));
    if (components.size() > numbers_.size() - at_) throw DataError("too few numbers");
    for (double& x : components) x = number();
    if (shape.empty()) return components[0];
    return components.empty() ? Value() : Value(std::move(components), shape);
  }

  const TensorFile& file_;
  json chains_;
  std::vector<const Address*> addresses_;
  std::vector<double> numbers_;  // of the chain that is being read
  std::size_t at_ = 0;
  std::size_t next_ = 0;  // in chains_
};

std::vector<std::uint64_t> counts_of(const TensorFile& file, const std::string& name) {
  std::vector<std::uint64_t> counts;
  for (const double x : file.tensors.at(name).doubles()) {
    if (!(x >= 0 && x <= 0x1p53 && x == std::floor(x))) throw DataError(name);
    counts.push_back(static_cast<std::uint64_t>(x));
  }
  return counts;
}

}  // namespace

std::uint64_t EngineState::traces() const {
  if (chains.empty()) return rows.size() + failed.size();
  std::uint64_t runs = 0;
  for (const ChainState& chain : chains) runs += chain.runs;
  return runs;
}

TensorFile EngineState::to_file() const {
  TensorFile file = posterior.to_file();
  file.kind = kKind;
  file.version = kVersion;
  file.tensors["rows"] = tensor_of(rows);
  file.tensors["failed"] = tensor_of(failed);
  // Bytes as numbers: a tensor has no other type.
  Tensor bytes{Tensor::Type::kFloat32, {static_cast<std::int64_t>((draws.size() + 3) / 4)}, draws};
  bytes.bytes.resize((draws.size() + 3) / 4 * 4);
  file.tensors["draws"] = std::move(bytes);
  file.metadata["draws_size"] = std::to_string(draws.size());
  file.metadata["samples"] = std::to_string(samples);
  Writer writer(file);
  for (const ChainState& chain : chains) writer.add(chain);
  writer.finish();
  return file;
}

EngineState EngineState::from_file(const TensorFile& file, AddressTable& table,
                                   const std::string& label) {
  EngineState state;
  state.posterior = Posterior::from_file(file, label);
  try {
    state.rows = counts_of(file, "rows");
    state.failed = counts_of(file, "failed");
    if (state.rows.size() != state.posterior.size()) throw DataError("rows");
    state.draws = file.tensors.at("draws").bytes;
    state.draws.resize(
        std::min<std::size_t>(state.draws.size(), std::stoull(file.metadata.at("draws_size"))));
    if (const auto found = file.metadata.find("samples"); found != file.metadata.end()) {
      state.samples = std::stoull(found->second);
    }
    Reader reader(file, table);
    while (!reader.done()) state.chains.push_back(reader.chain());
  } catch (const std::exception& error) {
    throw DataError(fmt::format("'{}': not an unfinished inference ({})", label, error.what()));
  }
  return state;
}

std::optional<EngineState> EngineWindow::look() const {
  const std::lock_guard lock(mutex_);
  return look_ ? look_() : last_;
}

OpenWindow::OpenWindow(EngineWindow* window, std::function<EngineState()> look)
    : window_(window), exceptions_(std::uncaught_exceptions()) {
  if (!window_) return;
  const std::lock_guard lock(window_->mutex_);
  window_->look_ = std::move(look);
}

OpenWindow::~OpenWindow() {
  if (!window_) return;
  const std::lock_guard lock(window_->mutex_);
  try {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    if (failed || window_->keeps_end_) window_->last_ = window_->look_();
  } catch (...) {  // no memory: nothing is to be seen
  }
  window_->look_ = nullptr;
}

}  // namespace psn
