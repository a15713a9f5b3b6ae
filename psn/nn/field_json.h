// Tables of fields (psn/base/field.h) as JSON objects, for the files of networks.
#pragma once

#include "psn/base/field.h"
#include "psn/nn/network_json.h"

namespace psn {

template <class Config>
nlohmann::json fields_json(const Fields<Config>& fields, const Config& config) {
  using F = Field<Config>;
  nlohmann::json result = nlohmann::json::object();
  for (const F& field : fields) {
    if (!field.is_used(config)) continue;
    nlohmann::json& member = result[field.name_for(config)];
    if (const auto* whole = std::get_if<typename F::Whole>(&field.kind)) {
      member = F::read(whole->at, config);
    } else if (const auto* real = std::get_if<typename F::Real>(&field.kind)) {
      member = F::read(real->at, config);
    } else if (const auto* flag = std::get_if<typename F::Flag>(&field.kind)) {
      member = F::read(flag->at, config);
    } else {
      member = field.text(config);
    }
  }
  return result;
}

// Limits are left to whoever looks at the whole.
template <class Config>
void read_fields(const JsonReader& reader, const nlohmann::json& object,
                 const Fields<Config>& fields, Config& config) {
  using F = Field<Config>;
  for (const F& field : fields) {
    const char* key = field.name_for(config).c_str();
    if (field.in_old_files ? !field.is_used(config) : !object.contains(key)) continue;
    if (const auto* whole = std::get_if<typename F::Whole>(&field.kind)) {
      whole->at(config) = reader.get<std::uint64_t>(object, key);
    } else if (const auto* real = std::get_if<typename F::Real>(&field.kind)) {
      real->at(config) = reader.get<double>(object, key);
    } else if (const auto* flag = std::get_if<typename F::Flag>(&field.kind)) {
      flag->at(config) = reader.get<bool>(object, key);
    } else {
      const auto word = reader.get<std::string>(object, key);
      if (!field.set_word(config, word)) {
        reader.fail(fmt::format("unknown {} '{}'", key, word));
      }
    }
  }
}

}  // namespace psn
