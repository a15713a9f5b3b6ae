#include "psn/train/news.h"

#include <fmt/format.h>

#include "psn/base/bytes.h"
#include "psn/base/error.h"
#include "psn/nn/network_json.h"

namespace psn {
namespace {

void put(ByteWriter& out, const Measurements& m) {
  out.put(m.count);
  out.put(m.values);
  out.put(m.spread);
  out.put(m.bounds);
}

void get(ByteReader& in, Measurements& m) {
  in.get(m.count);
  in.get(m.values);
  in.get(m.spread);
  in.get(m.bounds);
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

std::string to_bytes(const News& news) {
  ByteWriter out;
  out.put(news.error);
  out.put(news.stop);
  out.put(news.traces);
  out.put(std::uint64_t{news.nodes.size()});
  for (const Node& node : news.nodes) out.put(to_json(node, Network::kEnd + 1).dump());
  out.put(news.transitions);
  out.put(news.ranges);
  out.put(std::uint64_t{news.measured.size()});
  for (const auto& [node, measurements] : news.measured) {
    out.put(node);
    put(out, measurements);
  }
  out.put(news.observed);
  return out.take();
}

News read_news(const std::string& bytes, const NetworkConfig& config) {
  ByteReader in(bytes);
  News news;
  in.get(news.error);
  in.get(news.stop);
  in.get(news.traces);
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    news.nodes.push_back(read_node(in.get<std::string>(), config));
  }
  in.get(news.transitions);
  in.get(news.ranges);
  for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
    auto& [node, measurements] = news.measured.emplace_back();
    in.get(node);
    get(in, measurements);
  }
  in.get(news.observed);
  return news;
}

std::vector<News> exchange(Communicator& ranks, News own, const NetworkConfig& config) {
  std::vector<News> all;
  if (ranks.alone()) {
    all.push_back(std::move(own));
    return all;
  }
  for (const std::string& bytes : ranks.all_gather(to_bytes(own))) {
    all.push_back(read_news(bytes, config));
    const News& news = all.back();
    if (!news.error.empty()) {
      throw ModelError(fmt::format("rank {}: {}", all.size() - 1, news.error));
    }
  }
  return all;
}

}  // namespace psn
