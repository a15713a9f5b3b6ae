#include "psn/nn/tally/sample.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "psn/base/error.h"

namespace psn {

void TallySample::add(const std::string& site, const TallyType& type, double value) {
  at_.push_back(number(site, type));
  values_.push_back(value);
  ++length_;
}

void TallySample::end_trace() {
  lengths_.push_back(length_);
  length_ = 0;
}

std::uint32_t TallySample::number(const std::string& site, const TallyType& type) {
  const auto next = static_cast<std::uint32_t>(sites_.size());
  const auto [found, is_new] = numbers_.try_emplace(site, next);
  if (is_new) sites_.push_back({site, type});
  return found->second;
}

void TallySample::append(const TallySample& other) {
  std::vector<std::uint32_t> numbers;
  for (const Site& site : other.sites_) numbers.push_back(number(site.text, site.type));
  for (const std::uint32_t site : other.at_) at_.push_back(numbers[site]);
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  lengths_.insert(lengths_.end(), other.lengths_.begin(), other.lengths_.end());
}

bool TallySample::enough() const {
  constexpr std::size_t kTraces = 1000, kFewest = 100, kChoices = 100'000;
  return traces() >= kTraces || (traces() >= kFewest && at_.size() >= kChoices);
}

TallySample::TallySample(std::vector<Site> sites, std::vector<std::uint32_t> lengths,
                         std::vector<std::uint32_t> at, std::vector<double> values)
    : lengths_(std::move(lengths)), at_(std::move(at)), values_(std::move(values)) {
  for (const Site& site : sites) number(site.text, site.type);
  const auto steps = std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0});
  if (sites_.size() != sites.size() || steps != at_.size() || steps != values_.size() ||
      std::any_of(at_.begin(), at_.end(), [&](auto site) { return site >= sites_.size(); })) {
    throw InvalidArgument("a sample of traces is not what it should be");
  }
}

}  // namespace psn
