#include "psn/infer/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/base/rng.h"
#include "psn/io/tensor_file.h"

namespace psn {
namespace {

constexpr int kDrawsVersion = 1;
constexpr const char* kDrawsKind = "psn draws";
constexpr std::uint32_t kRanks = 0x72616e6b;  // substream

std::size_t numbers_of(const Draws::Draw& draw) {
  std::size_t sum = 1;  // so that a draw without latents has a size as well
  for (const Draws::Latent& latent : draw.latents) sum += latent.value.size() + 1;
  return sum;
}

// A count that was written as a double.
std::size_t count_of(double x, std::size_t most) {
  if (!(x >= 0 && x <= static_cast<double>(most)) || x != std::floor(x)) {
    throw DataError("a count that cannot be");
  }
  return static_cast<std::size_t>(x);
}

}  // namespace

Draws::Draws(Draws&& other) noexcept
    : seed_(other.seed_),
      limits_(other.limits_),
      by_rank_(std::move(other.by_rank_)),
      log_threshold_(other.log_threshold_),
      numbers_(other.numbers_),
      sites_(std::move(other.sites_)),
      number_of_(std::move(other.number_of_)) {}

double Draws::log_rank(std::uint64_t sample, double log_weight) const {
  return std::log(Rng(seed_, sample, kRanks).exponential()) - log_weight;
}

void Draws::offer(std::uint64_t sample, const Trace& trace, double log_weight) {
  if (log_weight == -kInfinity) return;
  const double rank = log_rank(sample, log_weight);
  const std::lock_guard lock(mutex_);
  if (rank >= log_threshold_) return;
  Draw draw{sample, log_weight, {}};
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kSample) continue;
    draw.latents.push_back({site(entry.address->text), entry.value});
  }
  keep(rank, std::move(draw));
}

void Draws::merge(const Draws& more) {
  for (const auto& [rank, theirs] : more.by_rank_) {
    if (rank >= log_threshold_) continue;
    Draw draw = theirs;
    for (Latent& latent : draw.latents) latent.site = site(more.sites_[latent.site]);
    keep(rank, std::move(draw));
  }
  while (!by_rank_.empty() && by_rank_.rbegin()->first >= more.log_threshold_) {
    numbers_ -= numbers_of(by_rank_.rbegin()->second);
    by_rank_.erase(std::prev(by_rank_.end()));
  }
  log_threshold_ = std::min(log_threshold_, more.log_threshold_);
}

void Draws::restore(const Draws& before, const std::vector<std::uint64_t>& samples) {
  for (const auto& [rank, theirs] : before.by_rank_) {
    if (!std::binary_search(samples.begin(), samples.end(), theirs.sample)) continue;
    Draw draw = theirs;
    for (Latent& latent : draw.latents) latent.site = site(before.sites_[latent.site]);
    keep(rank, std::move(draw));
  }
  log_threshold_ = std::min(log_threshold_, before.log_threshold_);
}

std::uint32_t Draws::site(const std::string& address) {
  const auto [found, is_new] =
      number_of_.try_emplace(address, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(address);
  return found->second;
}

void Draws::keep(double log_rank, Draw draw) {
  numbers_ += numbers_of(draw);
  by_rank_.emplace(log_rank, std::move(draw));
  while (by_rank_.size() > limits_.draws || numbers_ > limits_.numbers) {
    const auto last = std::prev(by_rank_.end());
    log_threshold_ = last->first;
    numbers_ -= numbers_of(last->second);
    by_rank_.erase(last);
  }
}

std::vector<Draws::Draw> Draws::kept() const {
  std::vector<Draw> draws;
  for (const auto& [rank, draw] : by_rank_) {
    draws.push_back(draw);
    // log(w / p), p = 1 - exp(-w t).
    double& log_weight = draws.back().log_weight;
    const double expected = std::exp(log_weight + log_threshold_);
    if (std::isfinite(expected)) log_weight -= std::log(-std::expm1(-expected));
  }
  std::sort(draws.begin(), draws.end(),
            [](const Draw& a, const Draw& b) { return a.sample < b.sample; });
  return draws;
}

// Sites are numbered anew, in the order of the samples: not by which thread came first.
std::string Draws::serialize() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Draw*> draws;
  for (const auto& [rank, draw] : by_rank_) draws.push_back(&draw);
  std::sort(draws.begin(), draws.end(),
            [](const Draw* a, const Draw* b) { return a->sample < b->sample; });
  std::map<std::uint32_t, std::size_t> number;
  nlohmann::json sites = nlohmann::json::array();
  std::vector<double> samples, log_weights, lengths, numbers, values;
  for (const Draw* draw : draws) {
    samples.push_back(static_cast<double>(draw->sample));
    log_weights.push_back(draw->log_weight);
    lengths.push_back(static_cast<double>(draw->latents.size()));
    for (const Latent& latent : draw->latents) {
      const auto [at, is_new] = number.try_emplace(latent.site, number.size());
      if (is_new) {
        sites.push_back({{"address", sites_[latent.site]}, {"shape", latent.value.shape()}});
      }
      numbers.push_back(static_cast<double>(at->second));
      values.insert(values.end(), latent.value.begin(), latent.value.end());
    }
  }
  const auto tensor = [](const std::vector<double>& data) {
    return Tensor::from(data, {static_cast<std::int64_t>(data.size())});
  };
  TensorFile file{.kind = kDrawsKind, .version = kDrawsVersion, .metadata = {}, .tensors = {}};
  file.metadata = {{"seed", std::to_string(seed_)},
                   {"limits", nlohmann::json({limits_.draws, limits_.numbers}).dump()},
                   {"log_threshold", fmt::format("{}", log_threshold_)},
                   {"sites", sites.dump()}};
  file.tensors = {{"samples", tensor(samples)},
                  {"log_weights", tensor(log_weights)},
                  {"lengths", tensor(lengths)},
                  {"sites", tensor(numbers)},
                  {"values", tensor(values)}};
  return file.serialize();
}

Draws Draws::parse(const std::string& bytes, const std::string& label) {
  const TensorFile file = TensorFile::parse(bytes, label, kDrawsKind, kDrawsVersion);
  try {
    const auto limits = nlohmann::json::parse(file.metadata.at("limits"));
    Draws draws(std::stoull(file.metadata.at("seed")), {limits.at(0), limits.at(1)});
    const auto numbers_in = [&](const char* name) { return file.tensors.at(name).doubles(); };
    std::vector<Shape> shapes;
    for (const auto& site : nlohmann::json::parse(file.metadata.at("sites"))) {
      draws.site(site.at("address"));
      shapes.push_back(site.at("shape"));
      for (const std::int64_t extent : shapes.back()) {
        if (extent < 1) throw DataError("a shape that cannot be");
      }
    }
    if (draws.sites_.size() != shapes.size()) throw DataError("a site that is there twice");
    const auto samples = numbers_in("samples"), log_weights = numbers_in("log_weights"),
               lengths = numbers_in("lengths"), sites = numbers_in("sites"),
               values = numbers_in("values");
    std::size_t at = 0, used = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      Draw draw{count_of(samples[i], std::size_t{1} << 52), log_weights.at(i), {}};
      if (!std::isfinite(draw.log_weight)) throw DataError("a weight that cannot be");
      for (std::size_t left = count_of(lengths.at(i), sites.size() - at); left > 0; --left) {
        const std::size_t site = count_of(sites[at++], shapes.size() - 1);
        const std::size_t size = element_count(shapes.at(site));
        if (size > values.size() - used) throw DataError("too few values");
        const auto first = values.begin() + static_cast<long>(used);
        draw.latents.push_back(
            {static_cast<std::uint32_t>(site),
             Value(std::vector<double>(first, first + static_cast<long>(size)), shapes[site])});
        used += size;
      }
      const double rank = draws.log_rank(draw.sample, draw.log_weight);
      draws.numbers_ += numbers_of(draw);
      draws.by_rank_.emplace(rank, std::move(draw));
    }
    if (at != sites.size() || used != values.size()) throw DataError("more values than draws");
    draws.log_threshold_ = std::stod(file.metadata.at("log_threshold"));
    return draws;
  } catch (const std::exception& error) {
    throw DataError(fmt::format("'{}': not draws of a posterior ({})", label, error.what()));
  }
}

}  // namespace psn
