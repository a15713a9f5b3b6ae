// The messages of PPX as values, and their form on the wire (docs/formats/ppx.md).
//
// decode() takes foreign bytes: it trusts nothing and throws ProtocolError for anything that is not
// a well-formed message within the limits below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "psn/core/distribution.h"

namespace psn::ppx {

struct Handshake {
  std::string system_name;
};
struct HandshakeResult {
  std::string system_name, model_name;
};
struct Run {};
struct RunResult {
  Value result;  // empty: the program returned nothing
};
struct Sample {
  std::string address, name;  // either may be empty, not both
  Distribution distribution;
  bool control = true;
};
struct SampleResult {
  Value result;
};
struct Observe {
  std::string address, name;
  std::optional<Distribution> distribution;
  Value value;  // empty: the engine has it, or draws it
};
struct ObserveResult {
  Value value;  // what was observed; empty unless both sides are psn
};
struct Tag {
  std::string address, name;
  Value value;
};
struct TagResult {};
struct Reset {};

// In the order of the wire's union, which counts from 1.
using Message = std::variant<Handshake, HandshakeResult, Run, RunResult, Sample, SampleResult,
                             Observe, ObserveResult, Tag, TagResult, Reset>;

std::string_view message_name(const Message& message);

inline constexpr std::size_t kMaxMessageBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10;  // of an address or a name
inline constexpr std::size_t kMaxRank = 16;

Message decode(std::span<const std::byte> bytes);

// How a scalar's shape is written. Deployed engines write [1], deployed simulators []; both read
// either.
enum class ScalarShape { kOne, kNone };

// Not thread-safe; keeps its buffer between messages.
class Encoder {
 public:
  explicit Encoder(ScalarShape scalars);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  // Valid until the next call. Throws ModelError for a distribution that PPX lacks.
  std::span<const std::byte> encode(const Message& message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace psn::ppx
