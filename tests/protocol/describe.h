// Messages as text, for tests.
#pragma once

#include <fmt/format.h>

#include <string>

#include "psn/ppx/codec.h"

namespace psn::ppx {

inline std::string describe(const Message& message) {
  const auto details = [](const auto& m) -> std::string {
    using M = std::decay_t<decltype(m)>;
    if constexpr (std::is_same_v<M, Handshake>) {
      return fmt::format(" '{}'", m.system_name);
    } else if constexpr (std::is_same_v<M, HandshakeResult>) {
      return fmt::format(" '{}' '{}'", m.system_name, m.model_name);
    } else if constexpr (std::is_same_v<M, Sample>) {
      return fmt::format(" '{}' '{}' {} {}", m.address, m.name, m.distribution.text(),
                         m.control ? "controlled" : "free");
    } else if constexpr (std::is_same_v<M, Observe>) {
      return fmt::format(" '{}' '{}' {} {}", m.address, m.name,
                         m.distribution ? m.distribution->text() : "none", m.value.text());
    } else if constexpr (std::is_same_v<M, Tag>) {
      return fmt::format(" '{}' '{}' {}", m.address, m.name, m.value.text());
    } else if constexpr (requires { m.result; }) {
      return fmt::format(" {}{}", m.result.text(),
                         m.result.size() > 1 ? shape_text(m.result.shape()) : "");
    } else if constexpr (requires { m.value; }) {
      return fmt::format(" {}", m.value.text());
    } else {
      return "";
    }
  };
  return std::string(message_name(message)) + std::visit(details, message);
}

}  // namespace psn::ppx
