#include "psn/nn/heads/head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "psn/nn/heads/categorical.h"
#include "psn/nn/heads/joint.h"
#include "psn/nn/heads/mixture.h"
#include "psn/nn/heads/uniform.h"

namespace psn {

using heads::HeadOf;

std::optional<std::string> ValueType::problem() const {
  constexpr std::size_t kMaxRank = 16;
  constexpr std::int64_t kMaxElements = 1 << 26;  // of a value, or of its one-hot form
  if (shape.size() > kMaxRank) {
    return fmt::format("a value of {} dimensions; a network takes {} at most", shape.size(),
                       kMaxRank);
  }
  std::int64_t elements = 1;
  const auto grows = [&](std::int64_t by) {
    if (by < 1 || by > kMaxElements / elements) return false;
    elements *= by;
    return true;
  };
  if (!std::all_of(shape.begin(), shape.end(), grows) ||
      !grows(std::max({std::int64_t{1}, std::int64_t{categories}, std::int64_t{mixture}}))) {
    return fmt::format(
        "a value of shape [{}] and {} categories is empty or too large for a network",
        fmt::join(shape, ","), categories);
  }
  return with_family(family, [&]<class D>() -> std::optional<std::string> {
    if constexpr (IsJoint<D>) return HeadOf<D>::problem(*this);
    return std::nullopt;
  });
}

std::optional<std::string> ValueType::head_problem() const {
  if (auto wrong = problem()) return wrong;
  return with_family(family, [&]<class D>() -> std::optional<std::string> {
    if constexpr (IsJoint<D>) return HeadOf<D>::head_problem(*this);
    return std::nullopt;
  });
}

std::size_t ValueType::outputs() const {
  return with_family(family, [&]<class D>() { return HeadOf<D>::count(*this); });
}

std::size_t ValueType::inputs() const {
  return family == family_of<Categorical> ? components() * categories : components();
}

void represent(const ValueType& type, const Scaling& scaling, const Value& x, float* out) {
  if (type.family == family_of<Categorical>) {
    std::fill_n(out, type.inputs(), 0.0f);
    for (std::size_t row = 0; row < x.size(); ++row) {
      const auto drawn = std::min<std::size_t>(static_cast<std::size_t>(std::max(0.0, x[row])),
                                               type.categories - 1);
      out[row * type.categories + drawn] = 1;
    }
    return;
  }
  constexpr double kFar = 20;  // an outlier is far away, however far
  const bool logarithm = info(type.family).logarithmic;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = logarithm ? std::log(std::max(x[i], 1e-300)) : x[i];
    out[i] = static_cast<float>(
        std::clamp((value - scaling.location[i]) / scaling.scale[i], -kFar, kFar));
  }
}

Distribution head_distribution(const ValueType& type, const Scaling& scaling,
                               const float* outputs) {
  return with_family(type.family,
                     [&]<class D>() { return HeadOf<D>::distribution(type, scaling, outputs); });
}

HeadLoss head_loss(const ValueType& type, const Scaling& scaling, const float* outputs,
                   const Value& x, const Distribution* p, float* gradient) {
  return with_family(type.family, [&]<class D>() {
    return HeadOf<D>::loss(type, scaling, outputs, x, p, gradient);
  });
}

void rescale_outputs(const ValueType& type, const Scaling& from, const Scaling& to, float* weights,
                     std::size_t columns) {
  using family::Link;
  using family::Role;
  const auto outputs =
      with_family(type.family, [&]<class D>() { return HeadOf<D>::outputs(type); });
  for (const auto& [link, role, i] : outputs) {
    const double old_size = heads::size_of(heads::unit_of(from, i));
    const double new_size = heads::size_of(heads::unit_of(to, i));
    float& bias = weights[columns - 1];
    if (link == Link::kReal && (role == Role::kLocation || role == Role::kScale)) {
      for (std::size_t j = 0; j < columns; ++j) weights[j] *= from.scale[i] / to.scale[i];
    }
    if (role == Role::kLocation) {
      bias += (from.location[i] - to.location[i]) / to.scale[i];
    } else if (link == Link::kPositive) {
      const double ratio = role == Role::kScale  ? double{from.scale[i]} / to.scale[i]
                           : role == Role::kSize ? old_size / new_size
                           : role == Role::kRate ? new_size / old_size
                                                 : 1;
      bias += static_cast<float>(std::log(ratio));
    }
    weights += columns;
  }
}

}  // namespace psn
