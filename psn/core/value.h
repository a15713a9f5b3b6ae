// Value: what a random choice yields and what a distribution is parameterised by: doubles with a
// shape. Scalars and vectors of up to three components live inside the object; anything larger is
// an immutable array shared by its copies, so passing values around costs no copying.
//
// Immutable after construction; safe to read from several threads.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace psn {

using Shape = std::vector<std::int64_t>;  // {} is a scalar

// Number of elements of a shape; throws InvalidArgument for a negative or overflowing one.
std::size_t element_count(const Shape& shape);

class Value {
 public:
  Value() noexcept : size_(0), layout_(Layout::kVector) {}  // no components at all
  Value(double scalar) noexcept : size_(1), layout_(Layout::kScalar) { small_[0] = scalar; }
  Value(std::initializer_list<double> components)
      : Value(std::span<const double>(components.begin(), components.size())) {}
  explicit Value(std::span<const double> components);
  Value(const std::vector<double>& components) : Value(std::span<const double>(components)) {}
  Value(std::vector<double> components, Shape shape);

  Value(const Value& other) noexcept : size_(other.size_), layout_(other.layout_) {
    if (layout_ == Layout::kArray) {
      new (&array_) ArrayPointer(other.array_);
    } else {
      small_ = other.small_;
    }
  }
  Value(Value&& other) noexcept : size_(other.size_), layout_(other.layout_) {
    if (layout_ == Layout::kArray) {
      new (&array_) ArrayPointer(std::move(other.array_));
      other.release();
    } else {
      small_ = other.small_;
    }
  }
  Value& operator=(const Value& other) noexcept {
    if (this != &other) {
      this->~Value();
      new (this) Value(other);
    }
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      this->~Value();
      new (this) Value(std::move(other));
    }
    return *this;
  }
  ~Value() {
    if (layout_ == Layout::kArray) array_.~ArrayPointer();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool is_scalar() const { return layout_ == Layout::kScalar; }
  Shape shape() const;
  std::size_t rank() const {
    return layout_ == Layout::kArray ? array_->shape.size() : (is_scalar() ? 0 : 1);
  }
  bool same_shape(const Value& other) const;
  // Extent of the last dimension; 0 for a scalar.
  std::size_t last_extent() const {
    if (layout_ == Layout::kArray) return static_cast<std::size_t>(array_->shape.back());
    return is_scalar() ? 0 : size_;
  }

  const double* data() const {
    return layout_ == Layout::kArray ? array_->components.data() : small_.data();
  }
  const double* begin() const { return data(); }
  const double* end() const { return data() + size_; }
  double operator[](std::size_t i) const { return data()[i]; }
  std::span<const double> components() const { return {data(), size_}; }

  // The single component; throws ModelError unless there is exactly one.
  double scalar() const {
    if (size_ != 1) throw_not_scalar();
    return data()[0];
  }
  operator double() const { return scalar(); }
  // For a categorical or counting variable: the value as an integer.
  std::int64_t integer() const { return static_cast<std::int64_t>(scalar()); }

  // "0.5", "[1, 2]"; long arrays are cut short.
  std::string text() const;

  friend bool operator==(const Value& a, const Value& b);
  // So that `ctx.sample(...) == 1` means what it says.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  friend bool operator==(const Value& a, Number b) { return a.scalar() == static_cast<double>(b); }

 private:
  enum class Layout : std::uint8_t { kScalar, kVector, kArray };
  struct Array {
    Shape shape;
    std::vector<double> components;
  };
  using ArrayPointer = std::shared_ptr<const Array>;
  static constexpr std::size_t kSmall = 3;

  void release() noexcept {
    array_.~ArrayPointer();
    size_ = 0;
    layout_ = Layout::kVector;
  }
  [[noreturn]] void throw_not_scalar() const;

  std::uint32_t size_;
  Layout layout_;
  union {
    std::array<double, kSmall> small_;
    ArrayPointer array_;
  };
};

// "[61]", "[60,20]"; "" for a scalar.
std::string shape_text(const Shape& shape);

}  // namespace psn
