#include "psn/data/form.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "psn/base/error.h"
#include "psn/data/parameters.h"

namespace psn::data {
namespace {

bool has_shape(const Value& value, const Shape& shape) {
  if (shape.empty() || value.is_scalar()) return shape.empty() && value.is_scalar();
  if (shape.size() == 1) return value.rank() == 1 && value.size() == std::size_t(shape[0]);
  return value.shape() == shape;
}

// Bit by bit: what is read is what was written.
bool same_bits(const Value& a, const Value& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

bool fits(const ParameterForm& form, const Value& value) {
  switch (form.keeping) {
    case Keeping::kLiteral:
      return same_bits(form.literal, value);
    case Keeping::kFilled:
      return is_filled(value);
    case Keeping::kEach:
      return true;
  }
  return false;
}

DistributionForm all_literal(const Distribution& d) {
  DistributionForm form{.family = d.family(), .parameters = {}, .components = {}};
  for (const Value& p : parameters_of(d)) {
    form.parameters.push_back({Keeping::kLiteral, p.shape(), p});
  }
  for (const Distribution& component : components_of(d)) {
    form.components.push_back(all_literal(component));
  }
  return form;
}

bool resembles(const DistributionForm& form, const Distribution& d) {
  const auto parameters = parameters_of(d);
  const auto components = components_of(d);
  return form.family == d.family() && form.components.size() == components.size() &&
         std::equal(form.parameters.begin(), form.parameters.end(), parameters.begin(),
                    [](const auto& p, const Value& value) { return has_shape(value, p.shape); }) &&
         std::equal(form.components.begin(), form.components.end(), components.begin(),
                    [](const auto& c, const Distribution& other) { return resembles(c, other); });
}

// Calls f(form of a parameter, its value) for all parameters, those of components too.
template <class FormOf, class F>
void each_parameter(FormOf& form, const Distribution& d, F f) {
  const auto parameters = parameters_of(d);
  const auto components = components_of(d);
  for (std::size_t k = 0; k < parameters.size(); ++k) f(form.parameters[k], parameters[k]);
  for (std::size_t k = 0; k < components.size(); ++k) {
    each_parameter(form.components[k], components[k], f);
  }
}

Distribution read_distribution(const DistributionForm& form, Numbers& numbers) {
  std::vector<Value> parameters;
  parameters.reserve(form.parameters.size());
  for (const ParameterForm& p : form.parameters) {
    parameters.push_back(p.keeping == Keeping::kLiteral  ? p.literal
                         : p.keeping == Keeping::kFilled ? numbers.filled(p.shape)
                                                         : numbers.value(p.shape));
  }
  std::vector<Distribution> components;
  for (const DistributionForm& c : form.components) {
    components.push_back(read_distribution(c, numbers));
  }
  return make_distribution(form.family, std::move(parameters), std::move(components));
}

bool is_fixed(const DistributionForm& form) {
  return std::all_of(form.parameters.begin(), form.parameters.end(),
                     [](const auto& p) { return p.keeping == Keeping::kLiteral; }) &&
         std::all_of(form.components.begin(), form.components.end(), is_fixed);
}

bool has_density(Role role) {
  return role != Role::kTag && role != Role::kFinish;
}

// That of a tag, which a surrogate has learned, is not kept: its value is what it is.
bool has_distribution(const Entry& entry) {
  return entry.distribution && entry.role != Role::kTag;
}

}  // namespace

const std::uint8_t* Numbers::take(std::size_t count) {
  if (count > left_) throw DataError("a trace with fewer numbers than its forms need");
  left_ -= count;
  const std::uint8_t* taken = bytes_;
  bytes_ += count * sizeof(double);
  return taken;
}

double Numbers::next() {
  double number = 0;
  std::memcpy(&number, take(1), sizeof number);
  return number;
}

Value Numbers::value(const Shape& shape) {
  if (shape.empty()) return next();
  const std::size_t count = element_count(shape);
  const std::uint8_t* bytes = take(count);
  std::vector<double> components(count);
  if (count) std::memcpy(components.data(), bytes, count * sizeof(double));
  return {std::move(components), shape};
}

Value Numbers::filled(const Shape& shape) {
  return {std::vector<double>(element_count(shape), next()), shape};
}

Form::Form(const Entry& entry)
    : address_(entry.address),
      role_(entry.role),
      control_(entry.control),
      given_(entry.given),
      shape_(entry.value.shape()) {
  if (has_distribution(entry)) distribution_ = all_literal(*entry.distribution);
  fix_distribution();
}

Entry Form::result_entry(const Value& result) {
  Entry entry;
  entry.role = Role::kFinish;
  entry.value = result;
  return entry;
}

void Form::fix_distribution() {
  fixed_.reset();
  if (!distribution_ || !is_fixed(*distribution_)) return;
  Numbers none(nullptr, 0);
  fixed_ = std::make_shared<const Distribution>(read_distribution(*distribution_, none));
}

bool Form::resembles(const Entry& entry) const {
  return address_ == entry.address && role_ == entry.role && control_ == entry.control &&
         given_ == entry.given && has_shape(entry.value, shape_) &&
         distribution_.has_value() == has_distribution(entry) &&
         (!distribution_ || data::resembles(*distribution_, *entry.distribution));
}

bool Form::fits(const Entry& entry) const {
  if (!resembles(entry)) return false;
  bool all = true;
  if (distribution_) {
    each_parameter(*distribution_, *entry.distribution,
                   [&](const ParameterForm& p, const Value& v) { all = all && data::fits(p, v); });
  }
  return all;
}

Form Form::loosened(const Entry& entry) const {
  Form looser = *this;
  each_parameter(*looser.distribution_, *entry.distribution,
                 [&](ParameterForm& p, const Value& value) {
                   if (data::fits(p, value)) return;
                   // What a reader would fill (form_bytes.cpp), but for the weights of a mixture.
                   const bool fills = p.keeping == Keeping::kLiteral && is_filled(value) &&
                                      p.shape == shape_ && looser.distribution_->components.empty();
                   p.keeping = fills ? Keeping::kFilled : Keeping::kEach;
                   p.literal = Value();
                 });
  looser.fix_distribution();
  return looser;
}

void Form::write(const Entry& entry, std::vector<double>& numbers) const {
  const auto append = [&](const Value& value) {
    numbers.insert(numbers.end(), value.begin(), value.end());
  };
  if (has_density(role_)) numbers.push_back(entry.log_prob);
  append(entry.value);
  if (!distribution_ || fixed_) return;
  each_parameter(*distribution_, *entry.distribution, [&](const ParameterForm& p, const Value& v) {
    if (p.keeping == Keeping::kFilled) numbers.push_back(v[0]);
    if (p.keeping == Keeping::kEach) append(v);
  });
}

Entry Form::read(Numbers& numbers) const {
  Entry entry{address_, role_, control_, given_, 0, {}, fixed_};
  if (has_density(role_)) entry.log_prob = numbers.next();
  entry.value = numbers.value(shape_);
  if (distribution_ && !fixed_) {
    auto distribution =
        std::make_shared<const Distribution>(read_distribution(*distribution_, numbers));
    require_valid(*distribution, entry.value.size());
    entry.distribution = std::move(distribution);
  }
  return entry;
}

}  // namespace psn::data
