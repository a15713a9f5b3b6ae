// Recorded conversations of deployed peers: tests/protocol/recorded/*.hex, a line a message, '>'
// from the engine and '<' from the simulator.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace psn::ppx {

using Bytes = std::vector<std::byte>;

inline Bytes from_hex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct Recorded {
  char from;
  Bytes bytes;
};

inline std::vector<Recorded> recording(const std::string& name) {
  std::ifstream in(std::string(PSN_RECORDED) + "/" + name + ".hex");
  std::vector<Recorded> messages;
  for (std::string line; std::getline(in, line);) {
    messages.push_back({line.at(0), from_hex(line.substr(2))});
  }
  return messages;
}

}  // namespace psn::ppx
