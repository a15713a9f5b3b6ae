// What is in a trace store, in numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "psn/data/store.h"

namespace psn::app {

// Lengths and frequencies are those of so many traces, evenly spread; 0: of all.
nlohmann::ordered_json store_info(data::StoreReader& reader, std::uint64_t sampled);
std::string info_text(const nlohmann::ordered_json& info);

}  // namespace psn::app
