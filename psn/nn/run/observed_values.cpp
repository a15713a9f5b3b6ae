// What was measured, as the observations that an inference network knows.
#include <fmt/format.h>

#include <map>
#include <set>

#include "psn/base/error.h"
#include "psn/core/missing.h"
#include "psn/nn/run/network_guide.h"

namespace psn {
namespace {

// The observations of a program with its own data, by address: those that the first run of it that
// succeeds was given.
struct Given {
  const Address* address;
  Value value;
};
std::map<std::string, Given> given_in_a_run(Simulator& simulator,
                                            const Observations& observations) {
  std::map<std::string, Given> result;
  bool done = false;
  for (std::uint64_t run = 0; !done; ++run) {  // until the simulator's own limit of failures
    done = true;
    run_traces(
        simulator, 1, [] { return std::make_unique<PriorGuide>(); },
        [&](std::uint64_t, Trace& trace) {
          for (const Entry& entry : trace.entries) {
            if (entry.given) result[entry.address->text] = {entry.address, entry.value};
          }
        },
        {.observations = &observations,
         .weighs = false,
         .first = run,
         .failed = [&](std::uint64_t) { done = false; }},
        {1, 1});
  }
  return result;
}

const std::string& label(const Node& node) {
  return node.name.empty() ? node.text : node.name;
}

class ObservedValues {
 public:
  ObservedValues(const Network& network, Simulator& simulator, const Observations& observations)
      : network_(network), simulator_(simulator), observations_(observations) {}

  std::vector<Observed> all() {
    for (NodeId id = Network::kEnd + 1; id < network_.size(); ++id) {
      if (!network_.is_observation(id)) continue;
      is_list(network_.node(id)) ? add_list(id) : add_one(id);
    }
    return std::move(result_);
  }

 private:
  void add_one(NodeId id) {
    const Node& node = network_.node(id);
    AddressTable& table = simulator_.addresses();
    const Address* address = table.address(table.variable(variable_key(node)), node.instance);
    auto value = observations_.find(*address, node.value.components());
    const bool has_gaps = value && gaps(*value) != Gaps::kNone;
    if (has_gaps && !node.may_be_missing) {
      throw InvalidArgument(fmt::format(
          "the observation '{}' has gaps, and the inference network was trained without "
          "any: psn train inference --missing",
          label(node)));
    }
    if (has_gaps) return;  // a proposal may know less
    if (!value) {
      const auto found = own().find(address->text);
      if (found != own().end()) value = found->second.value;
    }
    if (value) return add(id, *value, std::nullopt);
    if (!node.may_be_missing) fail_missing(node);
  }

  // Those of its values that were measured, however many: which indices there are is for the user's
  // observations to say, or the program's own.
  void add_list(NodeId id) {
    const Node& node = network_.node(id);
    AddressTable& table = simulator_.addresses();
    const std::size_t before = result_.size();
    for (const std::int64_t index : indices_of(node)) {
      VariableKey key = variable_key(node);
      key.index = index;
      const Address& address = *table.address(table.variable(key), 1);
      const auto value = observations_.find(address, node.value.components());
      if (value && gaps(*value) == Gaps::kNone) add(id, *value, index);
    }
    if (result_.size() > before) return;
    std::map<std::int64_t, const Value*> by_index;
    for (const auto& [text, given] : own()) {
      const Variable& variable = *given.address->variable;
      if (variable.site->text == node.text && variable.index) {
        by_index[*variable.index] = &given.value;
      }
    }
    for (const auto& [index, value] : by_index) add(id, *value, index);
    if (by_index.empty() && !node.may_be_missing) fail_missing(node);
  }

  std::set<std::int64_t> indices_of(const Node& node) const {
    std::set<std::int64_t> indices;
    for (const auto& [name, value] : observations_.values()) {
      if (name == node.site_name && !value.is_scalar()) {
        for (std::size_t i = 0; i < value.size(); ++i) indices.insert(std::int64_t(i));
      }
      const auto indexed = split_index(name);
      if (indexed && indexed->name == node.site_name) indices.insert(indexed->index);
    }
    return indices;
  }

  void add(NodeId id, const Value& value, std::optional<std::int64_t> index) {
    const Node& node = network_.node(id);
    if (value.size() != node.value.components()) {
      throw InvalidArgument(
          fmt::format("the observation '{}' has {} components; the inference network was trained "
                      "with {}",
                      label(node), value.size(), node.value.components()));
    }
    result_.push_back({id, value, index});
  }

  const std::map<std::string, Given>& own() {
    if (!own_) own_ = given_in_a_run(simulator_, observations_);
    return *own_;
  }

  [[noreturn]] static void fail_missing(const Node& node) {
    throw InvalidArgument(fmt::format(
        "the inference network needs a value of the observation '{}', and there is none",
        label(node)));
  }

  const Network& network_;
  Simulator& simulator_;
  const Observations& observations_;
  std::vector<Observed> result_;
  std::optional<std::map<std::string, Given>> own_;
};

}  // namespace

std::vector<Observed> observed_values(const Network& network, Simulator& simulator,
                                      const Observations& observations) {
  return ObservedValues(network, simulator, observations).all();
}

}  // namespace psn
