#include "psn/nn/run/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace psn {
namespace {

bool same(const Distribution& a, const Distribution& b) {
  const auto p = parameters_of(a), q = parameters_of(b);
  const auto c = components_of(a), d = components_of(b);
  return a.family() == b.family() && std::equal(p.begin(), p.end(), q.begin(), q.end()) &&
         std::equal(c.begin(), c.end(), d.begin(), d.end(), same);
}

std::vector<const Entry*> controlled(const Trace& trace) {
  std::vector<const Entry*> choices;
  for (const Entry& entry : trace.entries) {
    if (entry.role == Role::kSample && entry.control) choices.push_back(&entry);
  }
  return choices;
}

// Two runs' first difference, in words; empty: there is none.
std::string difference(const std::vector<const Entry*>& one,
                       const std::vector<const Entry*>& other) {
  const auto [a, b] =
      std::mismatch(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Entry* x, const Entry* y) { return x->address == y->address; });
  if (a != one.end() || b != other.end()) {
    const Entry& entry = a != one.end() ? **a : **b;
    return fmt::format("not all runs come to '{}', or not in one order", entry.address->text);
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!same(*one[i]->distribution, *other[i]->distribution)) {
      return fmt::format("the distribution of '{}' is not the same in all runs",
                         one[i]->address->text);
    }
  }
  return "";
}

// Every run makes the same requests.
class CourseEnsemble : public Ensemble {
 public:
  CourseEnsemble(const std::vector<Request>& requests, std::size_t width)
      : requests_(requests), runs_(width) {}

  std::size_t width() const override { return runs_.size(); }
  void start(Slot slot, const Ticket&, const Rng& rng) override {
    runs_[slot] = {rng, 0};
    ready_.push_back(slot);
  }
  void answer(Slot slot, const Value&) override {
    ++runs_[slot].at;
    ready_.push_back(slot);
  }
  std::span<const Pending> advance() override {
    pending_.clear();
    for (const Slot slot : ready_) {
      Pending& pending = pending_.emplace_back();
      static_cast<Request&>(pending) = requests_[runs_[slot].at];
      pending.slot = slot;
      pending.rng = &runs_[slot].rng;
    }
    ready_.clear();
    return pending_;
  }
  void abandon(Slot slot) override { std::erase(ready_, slot); }

 private:
  struct Run {
    Rng rng{0, 0, 0};
    std::size_t at = 0;  // among the requests
  };
  const std::vector<Request>& requests_;
  std::vector<Run> runs_;
  std::vector<Slot> ready_;
  std::vector<Pending> pending_;
};

const Value kNothing;  // what a course returns

}  // namespace

Course course_of(std::span<const Trace> traces) {
  Course course;
  const auto first = controlled(traces.front());
  for (const Trace& trace : traces) {
    course.problem = difference(first, controlled(trace));
    if (!course.problem.empty()) return course;
  }
  for (const Entry* entry : first) {
    const Variable& variable = *entry->address->variable;
    const Site& site = *variable.site;
    course.steps.push_back({site.scope, site.base, site.name, site.type, variable.index,
                            entry->address->instance, *entry->distribution});
  }
  return course;
}

CourseSimulator::CourseSimulator(std::string name, Course course,
                                 std::shared_ptr<const Network> network,
                                 const Observations& observations)
    : name_(std::move(name)), course_(std::move(course)) {
  for (const CourseStep& step : course_.steps) {
    requests_.push_back(
        {.role = Role::kSample,
         .address = addresses_.address(addresses_.variable(step.key()), step.instance),
         .distribution = &step.distribution});
  }
  for (NodeId id = Network::kEnd + 1; id < network->size(); ++id) {
    if (!network->is_observation(id)) continue;
    const Node& node = network->node(id);
    if (!is_list(node)) {
      observe(node, node.index);
      continue;
    }
    const auto seen = observations.values().find(node.site_name);
    const std::size_t length = seen == observations.values().end() ? 1 : seen->second.size();
    for (std::size_t i = 0; i < length; ++i) observe(node, static_cast<std::int64_t>(i));
  }
  requests_.push_back({.role = Role::kFinish, .value = &kNothing});
}

void CourseSimulator::observe(const Node& node, std::optional<std::int64_t> index) {
  const auto& location = node.scaling.location;
  const std::vector<double> median(location.begin(), location.end());
  VariableKey key = variable_key(node);
  key.index = index;
  const std::uint32_t instance = std::max<std::uint32_t>(1, node.instance);
  requests_.push_back({.role = Role::kObserve,
                       .control = false,
                       .address = addresses_.address(addresses_.variable(key), instance),
                       .value = &medians_.emplace_back(median, node.value.shape)});
}

std::unique_ptr<Ensemble> CourseSimulator::ensemble(std::size_t width) {
  return std::make_unique<CourseEnsemble>(requests_, width);
}

}  // namespace psn
