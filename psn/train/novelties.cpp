#include "psn/train/novelties.h"

#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/nn/network_json.h"
#include "psn/ranks/message.h"

namespace psn {
namespace {

void put(MessageWriter& out, const Measurements& m) {
  out.put(m.count);
  out.put(m.values);
  out.put(m.spread);
  out.put(m.bounds);
}

void get(MessageReader& in, Measurements& m) {
  in.get(m.count);
  in.get(m.values);
  in.get(m.spread);
  in.get(m.bounds);
}

void put(MessageWriter& out, const TallySample& sample) {
  out.put(std::uint64_t{sample.sites().size()});
  for (const TallySample::Site& site : sample.sites()) {
    out.put(site.text);
    out.put(site.type);
  }
  out.put(sample.lengths());
  out.put(sample.at());
  out.put(sample.values());
}

TallySample get_tally(MessageReader& in) {
  std::vector<TallySample::Site> sites(in.get<std::uint64_t>());
  for (TallySample::Site& site : sites) {
    in.get(site.text);
    in.get(site.type);
  }
  std::vector<std::uint32_t> lengths, at;
  std::vector<double> values;
  in.get(lengths);
  in.get(at);
  in.get(values);
  return {std::move(sites), std::move(lengths), std::move(at), std::move(values)};
}

Node read_node(const std::string& text, const NetworkConfig& config) {
  static const std::string kLabel = "message between ranks";
  const JsonReader reader(kLabel);
  Node node = read_node(reader, reader.parse(text, "node"), config);
  node.scaling.location.assign(node.value.components(), 0.0f);
  node.scaling.scale.assign(node.value.components(), 1.0f);
  return node;
}

}  // namespace

std::string to_bytes(const Novelties& novelties) {
  MessageWriter out;
  out.put(novelties.error);
  out.put(novelties.stop);
  out.put(novelties.traces);
  out.put(std::uint64_t{novelties.nodes.size()});
  for (const Node& node : novelties.nodes) out.put(to_json(node, Network::kEnd + 1).dump());
  out.put(novelties.transitions);
  out.put(novelties.ranges);
  out.put(std::uint64_t{novelties.measured.size()});
  for (const auto& [node, measurements] : novelties.measured) {
    out.put(node);
    put(out, measurements);
  }
  out.put(novelties.observed);
  const bool tallied = !novelties.tally.lengths().empty();
  out.put(tallied);
  if (tallied) put(out, novelties.tally);
  return out.take();
}

Novelties read_novelties(const std::string& bytes, const NetworkConfig& config) {
  MessageReader in(bytes);
  Novelties novelties;
  in.get(novelties.error);
  in.get(novelties.stop);
  in.get(novelties.traces);
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    novelties.nodes.push_back(read_node(in.get<std::string>(), config));
  }
  in.get(novelties.transitions);
  in.get(novelties.ranges);
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    auto& [node, measurements] = novelties.measured.emplace_back();
    in.get(node);
    get(in, measurements);
  }
  in.get(novelties.observed);
  if (in.get<bool>()) novelties.tally = get_tally(in);
  return novelties;
}

std::vector<Novelties> exchange(Communicator& ranks, Novelties own, const NetworkConfig& config) {
  std::vector<Novelties> all;
  if (ranks.alone()) {
    all.push_back(std::move(own));
    return all;
  }
  for (const std::string& bytes : ranks.all_gather(to_bytes(own))) {
    all.push_back(read_novelties(bytes, config));
    const Novelties& novelties = all.back();
    if (!novelties.error.empty()) {
      throw ModelError(fmt::format("rank {}: {}", all.size() - 1, novelties.error));
    }
  }
  return all;
}

}  // namespace psn
