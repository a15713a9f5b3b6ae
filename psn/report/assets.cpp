#include "psn/report/assets.h"

#include <array>
#include <cstddef>

// Defined by web/assets.S.
#define PSN_ASSET(name)               \
  extern "C" const char psn_##name[]; \
  extern "C" const char psn_##name##_end[];
PSN_ASSET(page)
PSN_ASSET(style)
PSN_ASSET(script)
PSN_ASSET(export)
PSN_ASSET(vega)
PSN_ASSET(vega_lite)
PSN_ASSET(vega_embed)
#undef PSN_ASSET

namespace psn {

std::string_view asset(Asset which) {
  struct Bounds {
    const char *begin, *end;
  };
  const std::array bounds{Bounds{psn_page, psn_page_end},
                          Bounds{psn_style, psn_style_end},
                          Bounds{psn_script, psn_script_end},
                          Bounds{psn_export, psn_export_end},
                          Bounds{psn_vega, psn_vega_end},
                          Bounds{psn_vega_lite, psn_vega_lite_end},
                          Bounds{psn_vega_embed, psn_vega_embed_end}};
  const Bounds& b = bounds.at(static_cast<std::size_t>(which));
  return {b.begin, static_cast<std::size_t>(b.end - b.begin)};
}

}  // namespace psn
