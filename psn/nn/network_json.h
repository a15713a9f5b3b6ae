// The JSON parts of a network's file: its configuration and its catalog of addresses, which also go
// from rank to rank. Reading believes nothing; what is wrong is a DataError that names the file.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "psn/nn/network.h"

namespace psn {

class JsonReader {
 public:
  // `label` stands for the file in messages and must outlive the reader.
  explicit JsonReader(const std::string& label) : label_(label) {}

  [[noreturn]] void fail(std::string_view what) const;
  nlohmann::json parse(const std::string& text, std::string_view what) const;
  // The member of an object, of exactly this type and within its range.
  template <class T>
  T get(const nlohmann::json& object, const char* key) const;

 private:
  [[noreturn]] void fail_member(const char* key) const;
  const std::string& label_;
};

nlohmann::json to_json(const NetworkConfig& config);
NetworkConfig read_config(const JsonReader& reader, const nlohmann::json& object);

// A catalog entry, but for its scaling's numbers and its successors' meaning.
nlohmann::json to_json(const Node& node, NodeId id);
Node read_node(const JsonReader& reader, const nlohmann::json& entry, const NetworkConfig& config);
// A node alone, or with the base and offset of an index.
nlohmann::json to_json(const Place& place);
Place read_place(const JsonReader& reader, const nlohmann::json& entry);
std::string_view base_name(Base base);
// A node's address without its instance.
std::string variable_text(const Node& node);

template <class T>
T JsonReader::get(const nlohmann::json& object, const char* key) const {
  try {
    const nlohmann::json& value = object.at(key);
    bool right = true;
    if constexpr (std::is_same_v<T, bool>) {
      right = value.is_boolean();
    } else if constexpr (std::is_unsigned_v<T>) {
      right = value.is_number_unsigned() &&
              value.template get<std::uint64_t>() <= std::numeric_limits<T>::max();
    } else if constexpr (std::is_integral_v<T>) {
      right = value.is_number_integer() &&
              (!value.is_number_unsigned() ||
               value.template get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    }
    if (right) return value.template get<T>();
  } catch (const nlohmann::json::exception&) {
  }
  fail_member(key);
}

}  // namespace psn
