#include "apps/psn/output/store_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

Json length_json(const std::optional<services::LengthSummary>& length) {
  if (!length) return nullptr;
  return {{"mean", length->mean},     {"min", length->min}, {"5%", length->q05},
          {"median", length->median}, {"95%", length->q95}, {"max", length->max}};
}

}  // namespace

Json contents_json(const services::StoreContents& contents) {
  Json json{{"store", contents.store}, {"traces", contents.traces}};
  for (const data::Origin& origin : contents.origins) {
    json["parts"].push_back(
        {{"model", origin.model}, {"seed", origin.seed}, {"traces", origin.traces}});
  }
  json["bytes"] = contents.bytes;
  json["sampled"] = contents.sampled;
  json["length"] = length_json(contents.length);
  json["addresses"] = Json::array();
  for (const auto& use : contents.addresses) {
    json["addresses"].push_back({{"address", use.address},
                                 {"name", use.name},
                                 {"site", use.site},
                                 {"per_trace", use.per_trace}});
  }
  return json;
}

std::string contents_text(const services::StoreContents& contents) {
  constexpr std::size_t kShown = 40;
  const auto bytes = static_cast<double>(contents.bytes);
  const auto traces = static_cast<double>(contents.traces);
  std::string text = fmt::format("{}: {} traces, {} addresses, {:.1f} MB, {:.0f} bytes a trace\n",
                                 contents.store, contents.traces, contents.addresses.size(),
                                 bytes / 1e6, traces > 0 ? bytes / traces : 0);
  for (const data::Origin& origin : contents.origins) {
    text +=
        fmt::format("  {} traces of {} from seed {}\n", origin.traces, origin.model, origin.seed);
  }
  if (const auto& length = contents.length) {
    text += fmt::format("random choices of {} traces:", contents.sampled);
    const auto add = [&](const char* name, auto value) {
      text += fmt::format(" {} {:.6g}", name, static_cast<double>(value));
    };
    add("mean", length->mean);
    add("min", length->min);
    add("5%", length->q05);
    add("median", length->median);
    add("95%", length->q95);
    add("max", length->max);
    text += '\n';
  }
  for (std::size_t i = 0; i < std::min(kShown, contents.addresses.size()); ++i) {
    text += fmt::format("  {:9.4f} a trace  {}\n", contents.addresses[i].per_trace,
                        contents.addresses[i].address);
  }
  if (contents.addresses.size() > kShown) text += "  ... (--json lists all)\n";
  return text;
}

}  // namespace psn::app
