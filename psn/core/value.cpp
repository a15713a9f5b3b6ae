#include "psn/core/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "psn/base/error.h"

namespace psn {

std::size_t element_count(const Shape& shape) {
  constexpr std::size_t kLimit = std::numeric_limits<std::uint32_t>::max();
  std::size_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) throw InvalidArgument(fmt::format("shape {} has a negative extent", shape));
    count *= static_cast<std::size_t>(extent);
    if (count > kLimit) throw InvalidArgument(fmt::format("shape {} is too large", shape));
  }
  return count;
}

Value::Value(std::span<const double> components)
    : size_(static_cast<std::uint32_t>(components.size())), layout_(Layout::kVector) {
  if (components.size() <= kSmall) {
    std::copy(components.begin(), components.end(), small_.begin());
  } else {
    auto array = std::make_shared<const Array>(Array{{static_cast<std::int64_t>(components.size())},
                                                     {components.begin(), components.end()}});
    new (&array_) ArrayPointer(std::move(array));
    layout_ = Layout::kArray;
  }
}

Value::Value(std::vector<double> components, Shape shape)
    : size_(static_cast<std::uint32_t>(components.size())), layout_(Layout::kScalar) {
  if (element_count(shape) != components.size()) {
    throw InvalidArgument(
        fmt::format("{} components do not fill shape {}", components.size(), shape));
  }
  if (shape.empty()) {
    small_[0] = components[0];
  } else if (shape.size() == 1 && components.size() <= kSmall) {
    layout_ = Layout::kVector;
    std::copy(components.begin(), components.end(), small_.begin());
  } else {
    auto array = std::make_shared<const Array>(Array{std::move(shape), std::move(components)});
    new (&array_) ArrayPointer(std::move(array));
    layout_ = Layout::kArray;
  }
}

Shape Value::shape() const {
  switch (layout_) {
    case Layout::kScalar:
      return {};
    case Layout::kVector:
      return {static_cast<std::int64_t>(size_)};
    case Layout::kArray:
      return array_->shape;
  }
  return {};
}

bool Value::same_shape(const Value& other) const {
  if (layout_ != other.layout_ || size_ != other.size_) return false;
  return layout_ != Layout::kArray || array_->shape == other.array_->shape;
}

std::string Value::text() const {
  constexpr std::size_t kShown = 8;
  if (is_scalar()) return fmt::format("{}", data()[0]);
  const auto shown = components().first(std::min<std::size_t>(size_, kShown));
  return fmt::format("[{}{}]", fmt::join(shown, ", "),
                     size_ > kShown ? fmt::format(", ... ({} in all)", size_) : "");
}

bool operator==(const Value& a, const Value& b) {
  return a.same_shape(b) && std::equal(a.begin(), a.end(), b.begin());
}

void Value::throw_not_scalar() const {
  throw ModelError(fmt::format("a value of shape {} is used as a single number", shape()));
}

std::string shape_text(const Shape& shape) {
  return shape.empty() ? "" : fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace psn
