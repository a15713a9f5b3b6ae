// The list of cores.
#include <algorithm>
#include <array>

#include "psn/nn/cores/core.h"

#define PSN_EACH_CORE(core) core(lstm) core(gru) core(attention)

namespace psn {

using MakeCore = std::shared_ptr<const Core>(const NetworkConfig&);

#define PSN_CORE(name) MakeCore name##_core;
PSN_EACH_CORE(PSN_CORE)
#undef PSN_CORE

namespace {

#define PSN_CORE(name) #name,
constexpr std::array kCoreNames = std::to_array<std::string_view>({PSN_EACH_CORE(PSN_CORE)});
#undef PSN_CORE
#define PSN_CORE(name) name##_core,
constexpr std::array kCoreMakers = std::to_array<MakeCore*>({PSN_EACH_CORE(PSN_CORE)});
#undef PSN_CORE

}  // namespace

std::span<const std::string_view> core_names() {
  return kCoreNames;
}

std::shared_ptr<const Core> make_core(const NetworkConfig& config) {
  const auto* found = std::find(kCoreNames.begin(), kCoreNames.end(), config.core);
  return kCoreMakers.at(static_cast<std::size_t>(found - kCoreNames.begin()))(config);
}

}  // namespace psn
