// The files of psn/report/web, and the libraries that the build fetched, as they are in this
// library.
#pragma once

#include <string_view>

namespace psn {

enum class Asset { kPage, kStyle, kScript, kExport, kVega, kVegaLite, kVegaEmbed };

// Empty for the libraries if psn was built without them (-DPSN_FIGURES=OFF).
std::string_view asset(Asset which);

}  // namespace psn
