#include "psn/services/stores.h"

#include <sys/stat.h>

#include <algorithm>
#include <unordered_map>

#include "psn/base/error.h"
#include "psn/data/merge.h"

namespace psn::services {
namespace {

// On disk; the file has holes where nothing was written.
std::uint64_t disk_bytes(const std::string& store) {
  struct stat status {};
  return ::stat((store + "/data.mdb").c_str(), &status) == 0
             ? static_cast<std::uint64_t>(status.st_blocks) * 512
             : 0;
}

std::optional<LengthSummary> length_summary(std::vector<std::size_t> lengths) {
  if (lengths.empty()) return std::nullopt;
  std::sort(lengths.begin(), lengths.end());
  double sum = 0;
  for (const std::size_t length : lengths) sum += static_cast<double>(length);
  const auto quantile = [&](double p) {
    return lengths[static_cast<std::size_t>(p * static_cast<double>(lengths.size() - 1))];
  };
  return LengthSummary{sum / static_cast<double>(lengths.size()),
                       lengths.front(),
                       quantile(0.05),
                       quantile(0.5),
                       quantile(0.95),
                       lengths.back()};
}

}  // namespace

StoreContents store_contents(const std::string& store, std::uint64_t sampled) {
  data::StoreReader reader(store);
  StoreContents contents{.store = reader.path(), .traces = reader.size()};
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
  for (data::Origin origin : reader.origins()) {
    if (origin.traces == 0) origin.traces = size;
    contents.origins.push_back(std::move(origin));
  }
  contents.bytes = disk_bytes(reader.path());
  contents.sampled = looked;
  contents.length = length_summary(std::move(lengths));
  for (const Address* address : reader.dictionary().addresses()) {
    contents.addresses.push_back({address->text, address->name(), address->variable->site->text,
                                  static_cast<double>(occurrences[address]) /
                                      static_cast<double>(std::max(looked, std::uint64_t{1}))});
  }
  return contents;
}

VerifiedStore verify_store(const std::string& store, Host& host) {
  data::StoreReader reader(store);
  const WorkScope work(host, {.label = store, .total = reader.size()});
  for (std::uint64_t i = 0; i < reader.size(); ++i) {
    if (host.monitor().stop.load()) throw Interrupted();
    reader.read(i);
    host.monitor().traces.fetch_add(1, std::memory_order_relaxed);
  }
  return {reader.size(), reader.dictionary().addresses().size()};
}

std::uint64_t merge_stores(const std::vector<std::string>& stores, const std::string& out,
                           Host& host) {
  const WorkScope work(host, {.label = out});
  return data::merge(stores, out, [&] {
    if (host.monitor().stop.load()) throw Interrupted();
    host.monitor().traces.fetch_add(1, std::memory_order_relaxed);
  });
}

}  // namespace psn::services
