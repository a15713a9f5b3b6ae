#include "apps/psn/output/data_summary.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

// On disk; the file has holes where nothing was written.
std::uint64_t disk_bytes(const std::string& store) {
  struct stat status {};
  return ::stat((store + "/data.mdb").c_str(), &status) == 0
             ? static_cast<std::uint64_t>(status.st_blocks) * 512
             : 0;
}

Json length_summary(std::vector<std::size_t> lengths) {
  if (lengths.empty()) return nullptr;
  std::sort(lengths.begin(), lengths.end());
  double sum = 0;
  for (const std::size_t length : lengths) sum += static_cast<double>(length);
  const auto quantile = [&](double p) {
    return lengths[static_cast<std::size_t>(p * static_cast<double>(lengths.size() - 1))];
  };
  return {{"mean", sum / static_cast<double>(lengths.size())},
          {"min", lengths.front()},
          {"5%", quantile(0.05)},
          {"median", quantile(0.5)},
          {"95%", quantile(0.95)},
          {"max", lengths.back()}};
}

}  // namespace

Json store_info(data::StoreReader& reader, std::uint64_t sampled) {
  const std::uint64_t size = reader.size();
  const std::uint64_t looked = sampled == 0 ? size : std::min(sampled, size);
  std::vector<std::size_t> lengths;
  std::unordered_map<const Address*, std::uint64_t> occurrences;
  for (std::uint64_t i = 0; i < looked; ++i) {
    const auto at = static_cast<std::uint64_t>(static_cast<unsigned __int128>(i) * size / looked);
    const Trace trace = reader.read(at);
    lengths.push_back(trace.length());
    for (const Entry& entry : trace.entries) ++occurrences[entry.address];
  }
  Json info{{"store", reader.path()}, {"traces", size}};
  for (const data::Part& part : reader.parts()) {
    info["parts"].push_back(
        {{"model", part.model}, {"seed", part.seed}, {"traces", part.traces ? part.traces : size}});
  }
  info["bytes"] = disk_bytes(reader.path());
  info["sampled"] = looked;
  info["length"] = length_summary(std::move(lengths));
  info["addresses"] = Json::array();
  for (const Address* address : reader.dictionary().addresses()) {
    info["addresses"].push_back({{"address", address->text},
                                 {"name", address->name()},
                                 {"site", address->variable->site->text},
                                 {"per_trace", static_cast<double>(occurrences[address]) /
                                                   static_cast<double>(std::max(looked, 1ul))}});
  }
  return info;
}

std::string info_text(const Json& info) {
  constexpr std::size_t kShown = 40;
  const auto traces = info["traces"].get<double>();
  std::string text = fmt::format("{}: {} traces, {} addresses, {:.1f} MB, {:.0f} bytes a trace\n",
                                 info["store"].get<std::string>(), info["traces"].dump(),
                                 info["addresses"].size(), info["bytes"].get<double>() / 1e6,
                                 traces > 0 ? info["bytes"].get<double>() / traces : 0);
  for (const Json& part : info["parts"]) {
    text += fmt::format("  {} traces of {} from seed {}\n", part["traces"].dump(),
                        part["model"].get<std::string>(), part["seed"].dump());
  }
  if (!info["length"].is_null()) {
    text += fmt::format("random choices of {} traces:", info["sampled"].dump());
    for (const auto& [name, value] : info["length"].items()) {
      text += fmt::format(" {} {:.6g}", name, value.get<double>());
    }
    text += '\n';
  }
  for (std::size_t i = 0; i < std::min(kShown, info["addresses"].size()); ++i) {
    const Json& address = info["addresses"][i];
    text += fmt::format("  {:9.4f} a trace  {}\n", address["per_trace"].get<double>(),
                        address["address"].get<std::string>());
  }
  if (info["addresses"].size() > kShown) text += "  ... (--json lists all)\n";
  return text;
}

}  // namespace psn::app
