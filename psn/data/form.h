// Form: all that is the same whenever a trace passes an address in the same way: address, role,
// shape, and those parameters of the distribution that never change. A trace then holds a form's
// number and what is left: log p, the value, the parameters that do change.
//
// At first all parameters belong to the form. An entry that fits no form of its address gets a
// looser one: a parameter that differs is written in the trace from then on, as one number if its
// components are equal. So a distribution that never changes costs nothing, nor is it made anew for
// every trace that is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "psn/core/trace.h"

namespace psn::data {

enum class Keeping : std::uint8_t { kLiteral, kFilled, kEach };

struct ParameterForm {
  Keeping keeping = Keeping::kLiteral;
  Shape shape;
  Value literal;
};

struct DistributionForm {
  Family family = family_of<Normal>;
  std::vector<ParameterForm> parameters;
  std::vector<DistributionForm> components;  // of a mixture
};

// Numbers of a trace that is being read, in order.
class Numbers {
 public:
  explicit Numbers(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes), left_(count) {}
  double next();
  Value value(const Shape& shape);
  Value filled(const Shape& shape);
  std::size_t left() const { return left_; }

 private:
  const std::uint8_t* take(std::size_t count);  // throws DataError if there are not so many

  const std::uint8_t* bytes_;
  std::size_t left_;
};

class Form {
 public:
  // The form that holds all of the entry's parameters.
  explicit Form(const Entry& entry);
  // What a program returned, as the last entry of a trace: its role is kFinish.
  static Entry result_entry(const Value& result);

  // Can the entry be written so?
  bool fits(const Entry& entry) const;
  // Does the entry differ in its parameters alone? Then loosened() makes this form fit.
  bool resembles(const Entry& entry) const;
  Form loosened(const Entry& entry) const;

  void write(const Entry& entry, std::vector<double>& numbers) const;
  Entry read(Numbers& numbers) const;

  const Address* address() const { return address_; }
  Role role() const { return role_; }
  const Shape& shape() const { return shape_; }
  const std::optional<DistributionForm>& distribution() const { return distribution_; }

  // As a FlatBuffer. Reading throws DataError for what no writer makes; `addresses` are those of
  // the store, by number.
  std::string bytes(std::optional<std::uint32_t> address) const;
  static Form parse(std::string_view bytes, std::span<const Address* const> addresses);

 private:
  Form() = default;
  void fix_distribution();

  const Address* address_ = nullptr;
  Role role_ = Role::kSample;
  bool control_ = true, given_ = false;
  Shape shape_;
  std::optional<DistributionForm> distribution_;
  std::shared_ptr<const Distribution> fixed_;  // if no parameter is left to the trace
};

}  // namespace psn::data
