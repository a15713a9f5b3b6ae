// What is in a trace store, as psn data info says it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "psn/services/stores.h"

namespace psn::app {

nlohmann::ordered_json contents_json(const services::StoreContents& contents);
std::string contents_text(const services::StoreContents& contents);

}  // namespace psn::app
