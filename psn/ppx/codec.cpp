#include "psn/ppx/codec.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "ppx_generated.h"
#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn::ppx {
namespace {

namespace wire = ::ppx;
using flatbuffers::Table;

static_assert(std::variant_size_v<Message> == wire::MessageBody_MAX);

// The wire knows a family by its name. Each is a table of one or two tensors, in the order of our
// own parameters, so one function reads and one writes all of them.
std::optional<Family> family_on_wire(wire::Distribution type) {
  if (type <= wire::Distribution_NONE || type > wire::Distribution_MAX) return std::nullopt;
  return find_family(std::string_view(wire::EnumNameDistribution(type)));
}

wire::Distribution type_on_wire(Family family) {
  for (const wire::Distribution type : wire::EnumValuesDistribution()) {
    if (family_on_wire(type) == family) return type;
  }
  throw ModelError(fmt::format("PPX has no {}", family_name(family)));
}

constexpr flatbuffers::voffset_t parameter_field(std::size_t k) {
  return static_cast<flatbuffers::voffset_t>(wire::Normal::VT_MEAN + 2 * k);
}
static_assert(parameter_field(1) == wire::Normal::VT_STDDEV);
static_assert(parameter_field(0) == wire::Categorical::VT_PROBS);
static_assert(parameter_field(1) == wire::Beta::VT_CONCENTRATION0);
static_assert(parameter_field(1) == wire::Gamma::VT_RATE);
static_assert(parameter_field(1) == wire::Binomial::VT_PROBS);
static_assert(parameter_field(1) == wire::Weibull::VT_CONCENTRATION);

// ---- Reading ----------------------------------------------------------------------------------

std::string text_of(const flatbuffers::String* text, std::string_view field) {
  if (!text) return "";
  if (text->size() > kMaxTextBytes) {
    throw ProtocolError(
        fmt::format("{} of {} bytes; at most {} are taken", field, text->size(), kMaxTextBytes));
  }
  if (!is_printable(text->string_view())) {
    throw ProtocolError(fmt::format("{} '{}' is not printable UTF-8", field,
                                    escaped(text->string_view().substr(0, 100))));
  }
  return text->str();
}

Shape shape_of(const wire::Tensor& tensor) {
  Shape shape;
  if (!tensor.shape()) return shape;
  if (tensor.shape()->size() > kMaxRank) {
    throw ProtocolError(fmt::format("a tensor of {} dimensions", tensor.shape()->size()));
  }
  for (const std::int32_t extent : *tensor.shape()) shape.push_back(extent);
  return shape;
}

// A scalar may come with shape [] or [1]; `vector` keeps it a vector of one.
Value value_of(const wire::Tensor* tensor, bool vector = false) {
  if (!tensor) return {};
  Shape shape = shape_of(*tensor);
  const std::size_t size = tensor->data() ? tensor->data()->size() : 0;
  if (size == 0 && shape.empty()) return {};
  std::size_t expected = 0;
  try {
    expected = element_count(shape);
  } catch (const InvalidArgument& error) {
    throw ProtocolError(error.what());
  }
  if (expected != size) {
    throw ProtocolError(fmt::format("a tensor of shape {} with {} numbers",
                                    shape.empty() ? "[]" : shape_text(shape), size));
  }
  if (size == 0) return {};
  // Copied byte by byte: the verifier does not see to the alignment of a vector's elements.
  static_assert(std::endian::native == std::endian::little);
  const std::uint8_t* bytes = tensor->data()->Data();
  if (size == 1 && shape.size() <= 1) {
    double scalar = 0;
    std::memcpy(&scalar, bytes, sizeof scalar);
    return vector ? Value{scalar} : Value(scalar);
  }
  std::vector<double> numbers(size);
  std::memcpy(numbers.data(), bytes, size * sizeof(double));
  return {std::move(numbers), std::move(shape)};
}

std::optional<Distribution> distribution_of(wire::Distribution type, const void* body) {
  if (type == wire::Distribution_NONE) return std::nullopt;
  if (!body) throw ProtocolError("a distribution without a body");
  const auto family = family_on_wire(type);
  if (!family) {
    throw ProtocolError(fmt::format("a distribution of unknown kind {}", static_cast<int>(type)));
  }
  const auto& table = *static_cast<const Table*>(body);
  std::vector<Value> parameters;
  for (const family::Parameter& p : info(*family).parameters) {
    const auto* tensor = table.GetPointer<const wire::Tensor*>(parameter_field(parameters.size()));
    parameters.push_back(value_of(tensor, p.link == family::Link::kSimplex));
  }
  return make_distribution(*family, std::move(parameters));
}

template <class M>
std::pair<std::string, std::string> address_and_name(const M& message) {
  std::pair result{text_of(message.address(), "address"), text_of(message.name(), "name")};
  if (result.first.empty() && result.second.empty()) {
    throw ProtocolError("a request with neither address nor name");
  }
  return result;
}

Message read(const wire::Sample& m) {
  auto [address, name] = address_and_name(m);
  auto distribution = distribution_of(m.distribution_type(), m.distribution());
  if (!distribution) throw ProtocolError("a sample request without a distribution");
  return Sample{std::move(address), std::move(name), *std::move(distribution), m.control()};
}

Message read(const wire::Observe& m) {
  auto [address, name] = address_and_name(m);
  return Observe{std::move(address), std::move(name),
                 distribution_of(m.distribution_type(), m.distribution()), value_of(m.value())};
}

Message read(const wire::Tag& m) {
  auto [address, name] = address_and_name(m);
  return Tag{std::move(address), std::move(name), value_of(m.value())};
}

Message read_body(const wire::Message& m) {
  switch (m.body_type()) {
    case wire::MessageBody_Handshake:
      return Handshake{text_of(m.body_as_Handshake()->system_name(), "system name")};
    case wire::MessageBody_HandshakeResult:
      return HandshakeResult{text_of(m.body_as_HandshakeResult()->system_name(), "system name"),
                             text_of(m.body_as_HandshakeResult()->model_name(), "model name")};
    case wire::MessageBody_Run:
      return Run{};
    case wire::MessageBody_RunResult:
      return RunResult{value_of(m.body_as_RunResult()->result())};
    case wire::MessageBody_Sample:
      return read(*m.body_as_Sample());
    case wire::MessageBody_SampleResult:
      return SampleResult{value_of(m.body_as_SampleResult()->result())};
    case wire::MessageBody_Observe:
      return read(*m.body_as_Observe());
    case wire::MessageBody_ObserveResult:
      return ObserveResult{value_of(m.body_as_ObserveResult()->value())};
    case wire::MessageBody_Tag:
      return read(*m.body_as_Tag());
    case wire::MessageBody_TagResult:
      return TagResult{};
    case wire::MessageBody_Reset:
      return Reset{};
    case wire::MessageBody_NONE:
      break;
  }
  throw ProtocolError(fmt::format("a message of unknown kind {}", static_cast<int>(m.body_type())));
}

}  // namespace

std::string_view message_name(const Message& message) {
  return wire::EnumNameMessageBody(static_cast<wire::MessageBody>(message.index() + 1));
}

Message decode(std::span<const std::byte> bytes) {
  constexpr flatbuffers::uoffset_t kMaxDepth = 8, kMaxTables = 16;
  if (bytes.size() < 8 || bytes.size() > kMaxMessageBytes) {
    throw ProtocolError(fmt::format("a message of {} bytes", bytes.size()));
  }
  std::vector<std::uint64_t> aligned;  // FlatBuffers reads offsets where they lie
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(std::uint64_t) != 0) {
    aligned.resize((bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    bytes = std::as_bytes(std::span(aligned)).first(bytes.size());
  }
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), kMaxDepth, kMaxTables);
  if (!verifier.VerifyBuffer<wire::Message>(nullptr)) {
    throw ProtocolError(fmt::format("{} bytes that are no PPX message", bytes.size()));
  }
  const auto& message = *flatbuffers::GetRoot<wire::Message>(data);
  if (!message.body()) throw ProtocolError("a message without a body");
  return read_body(message);
}

// ---- Writing ----------------------------------------------------------------------------------

struct Encoder::State {
  using Body = flatbuffers::Offset<void>;
  using Tensor = flatbuffers::Offset<wire::Tensor>;

  Tensor tensor(const Value& value) {
    if (value.empty()) return 0;
    const auto data = builder.CreateVector(value.data(), value.size());
    std::vector<std::int32_t> shape;
    for (const std::int64_t extent : value.shape()) {
      shape.push_back(static_cast<std::int32_t>(extent));
    }
    if (value.is_scalar() && scalars == ScalarShape::kOne) shape.push_back(1);
    return wire::CreateTensor(builder, data, builder.CreateVector(shape));
  }

  // Also if it is empty: PyProb cannot do without.
  flatbuffers::Offset<flatbuffers::String> text(const std::string& text) {
    return builder.CreateString(text);
  }

  Body parameters(std::span<const Value> values) {
    std::vector<Tensor> tensors;
    for (const Value& value : values) tensors.push_back(tensor(value));
    const auto start = builder.StartTable();
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      builder.AddOffset(parameter_field(k), tensors[k]);
    }
    return builder.EndTable(start);
  }

  std::pair<wire::Distribution, Body> distribution(const Distribution& distribution) {
    const wire::Distribution type = type_on_wire(distribution.family());
    return {type, parameters(parameters_of(distribution))};
  }

  Body write(const Handshake& m) {
    return wire::CreateHandshake(builder, text(m.system_name)).Union();
  }
  Body write(const HandshakeResult& m) {
    const auto system = text(m.system_name);
    return wire::CreateHandshakeResult(builder, system, text(m.model_name)).Union();
  }
  Body write(const Run&) { return wire::CreateRun(builder).Union(); }
  Body write(const RunResult& m) {
    return wire::CreateRunResult(builder, tensor(m.result)).Union();
  }
  Body write(const Sample& m) {
    const auto address = text(m.address), name = text(m.name);
    const auto [type, body] = distribution(m.distribution);
    return wire::CreateSample(builder, address, name, type, body, m.control).Union();
  }
  Body write(const SampleResult& m) {
    return wire::CreateSampleResult(builder, tensor(m.result)).Union();
  }
  Body write(const Observe& m) {
    const auto address = text(m.address), name = text(m.name);
    const auto value = tensor(m.value);
    const auto [type, body] =
        m.distribution ? distribution(*m.distribution) : std::pair{wire::Distribution_NONE, Body{}};
    return wire::CreateObserve(builder, address, name, type, body, value).Union();
  }
  Body write(const ObserveResult& m) {
    return wire::CreateObserveResult(builder, tensor(m.value)).Union();
  }
  Body write(const Tag& m) {
    const auto address = text(m.address), name = text(m.name);
    return wire::CreateTag(builder, address, name, tensor(m.value)).Union();
  }
  Body write(const TagResult&) { return wire::CreateTagResult(builder).Union(); }
  Body write(const Reset&) { return wire::CreateReset(builder).Union(); }

  flatbuffers::FlatBufferBuilder builder{1024};
  ScalarShape scalars;
};

Encoder::Encoder(ScalarShape scalars) : state_(std::make_unique<State>()) {
  state_->scalars = scalars;
}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

std::span<const std::byte> Encoder::encode(const Message& message) {
  auto& builder = state_->builder;
  builder.Clear();
  const auto body = std::visit([&](const auto& m) { return state_->write(m); }, message);
  const auto type = static_cast<wire::MessageBody>(message.index() + 1);
  builder.Finish(wire::CreateMessage(builder, type, body));
  return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
}

}  // namespace psn::ppx
