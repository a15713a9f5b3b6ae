#include "psn/evidence/summaries.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "psn/base/numerics.h"

namespace psn::evidence {
namespace {

constexpr const char* kLength = "length";
constexpr const char* kHas = "has ";

const std::string& name_of(const Address& address) {
  return address.name().empty() ? address.text : address.name();
}

double one_number(const Value& value) {
  return std::accumulate(value.begin(), value.end(), 0.0) / static_cast<double>(value.size());
}

double mean_of(std::span<const double> values) {
  double sum = 0, count = 0;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    sum += x;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

bool varies(std::span<const double> values) {
  const auto first =
      std::find_if_not(values.begin(), values.end(), [](double x) { return std::isnan(x); });
  return std::any_of(first, values.end(), [&](double x) { return !std::isnan(x) && x != *first; });
}

}  // namespace

void TraceSummaries::add(const Trace& trace) {
  std::map<std::size_t, double> last;
  const auto number = [&](const std::string& name) {
    const auto [found, is_new] = number_of_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  };
  last[number(kLength)] = static_cast<double>(trace.length());
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kSample && entry.role != Role::kObserve) continue;
    last[number(name_of(*entry.address))] = one_number(entry.value);
  }
  traces_.emplace_back(last.begin(), last.end());
}

// A name's values, or for "has NAME" whether it is there.
std::vector<double> TraceSummaries::values(const std::string& column) const {
  const bool indicates = column.starts_with(kHas) && !number_of_.contains(column);
  const auto found = number_of_.find(indicates ? column.substr(std::string(kHas).size()) : column);
  std::vector<double> result(traces_.size(), indicates ? 0 : kNaN);
  if (found == number_of_.end()) return result;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const auto at = std::lower_bound(
        traces_[i].begin(), traces_[i].end(), found->second,
        [](const auto& entry, std::size_t number) { return entry.first < number; });
    if (at == traces_[i].end() || at->first != found->second) continue;
    result[i] = indicates ? 1 : at->second;
  }
  return result;
}

std::vector<std::string> TraceSummaries::columns(std::size_t most) const {
  std::vector<std::size_t> count(names_.size()), order(names_.size());
  for (const Summary& trace : traces_) {
    for (const auto& [name, value] : trace) ++count[name];
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return count[a] > count[b]; });
  std::vector<std::string> result;
  for (const std::size_t name : order) {
    if (result.size() >= most) break;
    if (varies(values(names_[name]))) result.push_back(names_[name]);
    if (count[name] < traces_.size() && result.size() < most) {
      result.push_back(kHas + names_[name]);
    }
  }
  return result;
}

std::vector<double> TraceSummaries::rows(const std::vector<std::string>& columns, std::size_t count,
                                         const TraceSummaries& usual) const {
  std::vector<double> result(count * columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::vector<double> own = values(columns[c]);
    const double instead = mean_of(usual.values(columns[c]));
    for (std::size_t i = 0; i < count; ++i) {
      result[i * columns.size() + c] = std::isnan(own[i]) ? instead : own[i];
    }
  }
  return result;
}

}  // namespace psn::evidence
