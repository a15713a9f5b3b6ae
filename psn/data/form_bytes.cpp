// Forms as FlatBuffers.
#include <fmt/format.h>

#include <algorithm>

#include "psn/data/form.h"
#include "psn/data/parameters.h"
#include "psn/data/record.h"
#include "trace_store_generated.h"

namespace psn::data {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
template <class T>
using List = flatbuffers::Vector<T>;

constexpr std::size_t kMaxFilled = 1 << 20;  // components that one number of the form may stand for
constexpr std::size_t kMaxNumbers = 1 << 27;  // of all parameters: FlatBuffers end at 2 GiB

// Only the value's own shape is filled, and in a mixture only the weights: no record is small on
// disk and large in memory.
bool may_fill(const Shape& shape, const Shape& value_shape, bool in_mixture) {
  return !in_mixture && shape == value_shape;
}

flatbuffers::Offset<List<std::uint64_t>> write_shape(Builder& builder, const Shape& shape) {
  return shape.empty()
             ? 0
             : builder.CreateVector(std::vector<std::uint64_t>(shape.begin(), shape.end()));
}

flatbuffers::Offset<record::Distribution> write(Builder& builder, const DistributionForm& form,
                                                const Shape& value_shape, bool in_mixture) {
  std::vector<flatbuffers::Offset<record::Distribution>> components;
  for (const DistributionForm& c : form.components) {
    components.push_back(write(builder, c, value_shape, true));
  }
  std::vector<flatbuffers::Offset<record::Parameter>> parameters;
  for (const ParameterForm& p : form.parameters) {
    const bool fills = may_fill(p.shape, value_shape, in_mixture) && is_filled(p.literal) &&
                       p.literal.size() <= kMaxFilled;
    const auto literal = builder.CreateVector(p.literal.data(), fills ? 1 : p.literal.size());
    parameters.push_back(record::CreateParameter(builder, static_cast<record::Keeping>(p.keeping),
                                                 write_shape(builder, p.shape), literal));
  }
  return record::CreateDistribution(builder, static_cast<std::uint8_t>(form.family),
                                    builder.CreateVector(parameters),
                                    builder.CreateVector(components));
}

std::size_t literal_numbers(const DistributionForm& form) {
  std::size_t count = 0;
  for (const ParameterForm& p : form.parameters) count += p.literal.size();
  for (const DistributionForm& c : form.components) count += literal_numbers(c);
  return count;
}

// Throws DataError also for a shape that has more elements than a value may have.
Shape shape_of(const List<std::uint64_t>* extents) {
  constexpr std::size_t kMaxRank = 32;
  Shape shape;
  if (!extents) return shape;
  if (extents->size() > kMaxRank) {
    throw DataError(fmt::format("a value of {} dimensions; {} at most", extents->size(), kMaxRank));
  }
  // FlatBuffers checks where a list's length lies, not where its elements do.
  if (reinterpret_cast<std::uintptr_t>(extents->Data()) % alignof(std::uint64_t) != 0) {
    throw DataError("a shape that is out of place");
  }
  shape.assign(extents->begin(), extents->end());
  try {
    element_count(shape);
  } catch (const InvalidArgument& error) {
    throw DataError(error.what());
  }
  return shape;
}

Value literal_of(const List<double>* numbers, const Shape& shape, bool may_fill) {
  const std::size_t size = numbers ? numbers->size() : 0, count = element_count(shape);
  if (size != count && !(may_fill && size == 1 && count <= kMaxFilled)) {
    throw DataError("a parameter with too few numbers");
  }
  if (count == 0) return {{}, shape};
  Numbers reader(numbers->Data(), size);
  return size == count ? reader.value(shape) : reader.filled(shape);
}

ParameterForm parse(const record::Parameter& p, const Shape& value_shape, bool in_mixture) {
  const Shape shape = shape_of(p.shape());
  const bool fills = may_fill(shape, value_shape, in_mixture);
  switch (p.keeping()) {
    case record::Keeping_Literal:
      return {Keeping::kLiteral, shape, literal_of(p.literal(), shape, fills)};
    case record::Keeping_Filled:
      if (!fills) break;
      return {Keeping::kFilled, shape, {}};
    case record::Keeping_Each:
      return {Keeping::kEach, shape, {}};
  }
  throw DataError("a parameter that is kept in no known way");
}

DistributionForm parse(const record::Distribution& d, const Shape& value_shape, bool in_mixture) {
  const auto family = find_family(d.family());
  if (!family) throw DataError(fmt::format("a distribution of unknown family {}", d.family()));
  DistributionForm form{*family, {}, {}};
  const bool is_mixture = form.family == family_of<Mixture>;
  const std::size_t components = d.components() ? d.components()->size() : 0;
  if (!d.parameters() || d.parameters()->size() != info(form.family).parameters.size() ||
      (components > 0) != is_mixture) {
    throw DataError(
        fmt::format("a {} with too many or too few parameters", family_name(form.family)));
  }
  for (const record::Parameter* p : *d.parameters()) {
    form.parameters.push_back(parse(*p, value_shape, in_mixture));
  }
  for (std::size_t k = 0; k < components; ++k) {
    form.components.push_back(
        parse(*d.components()->Get(static_cast<unsigned>(k)), value_shape, true));
  }
  return form;
}

}  // namespace

std::string Form::bytes(std::optional<std::uint32_t> address) const {
  if (distribution_ && literal_numbers(*distribution_) > kMaxNumbers) {
    throw DataError(fmt::format("a distribution of more than {} numbers", kMaxNumbers));
  }
  Builder builder;
  const auto shape = write_shape(builder, shape_);
  flatbuffers::Offset<record::Distribution> distribution = 0;
  if (distribution_) distribution = data::write(builder, *distribution_, shape_, false);
  record::FormBuilder form(builder);
  if (address) form.add_address(*address);
  form.add_role(static_cast<std::uint8_t>(role_));
  form.add_control(control_);
  form.add_given(given_);
  form.add_shape(shape);
  form.add_distribution(distribution);
  builder.Finish(form.Finish());
  return std::string(finished(builder));
}

Form Form::parse(std::string_view bytes, std::span<const Address* const> addresses) {
  const auto& stored = parsed<record::Form>(bytes);
  Form form;
  if (stored.role() > static_cast<std::uint8_t>(Role::kFinish)) throw DataError("an unknown role");
  form.role_ = static_cast<Role>(stored.role());
  form.control_ = stored.control();
  form.given_ = stored.given();
  form.shape_ = shape_of(stored.shape());
  if (stored.address().has_value() == (form.role_ == Role::kFinish)) {
    throw DataError("an entry without an address");
  }
  if (stored.address()) {
    if (*stored.address() >= addresses.size()) throw DataError("an address that is not known");
    form.address_ = addresses[*stored.address()];
  }
  const bool random = form.role_ == Role::kSample || form.role_ == Role::kObserve;
  const bool has_distribution = stored.distribution() != nullptr;
  if ((has_distribution && !random) || (!has_distribution && form.role_ == Role::kSample)) {
    throw DataError("a distribution where there is none, or none where there is one");
  }
  if (!has_distribution) return form;
  form.distribution_ = data::parse(*stored.distribution(), form.shape_, false);
  form.fix_distribution();
  if (form.fixed_) require_valid(*form.fixed_, element_count(form.shape_));
  return form;
}

}  // namespace psn::data
