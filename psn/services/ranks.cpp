#include "psn/services/ranks.h"

#include <algorithm>

#include "psn/ranks/message.h"

namespace psn::services {
namespace {

constexpr const char* kOrigin = "message between ranks";

}  // namespace

RankPart own_part(const Communicator& ranks, std::uint64_t count) {
  const std::uint64_t rank = ranks.rank(), size = ranks.size();
  const auto before = [&](std::uint64_t r) { return count / size * r + std::min(r, count % size); };
  return {before(rank), before(rank + 1) - before(rank)};
}

Posterior joined(Communicator& ranks, Posterior own) {
  if (ranks.alone()) return own;
  const std::vector<std::string> parts = ranks.gather(own.serialize());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    own.append(Posterior::parse(parts[rank], kOrigin));
  }
  return own;
}

void join(Communicator& ranks, Draws& own) {
  if (ranks.alone()) return;
  const std::vector<std::string> parts = ranks.gather(own.serialize());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    own.merge(Draws::parse(parts[rank], kOrigin));
  }
}

Failures joined(Communicator& ranks, const Failures& own) {
  if (ranks.alone()) return own;
  MessageWriter out;
  out.put(own.last);
  out.put(std::uint64_t{own.by_cause.size()});
  for (const auto& [cause, count] : own.by_cause) {
    out.put(cause);
    out.put(count);
  }
  Failures all;
  for (const std::string& bytes : ranks.all_gather(out.take())) {
    MessageReader in(bytes);
    const auto last = in.get<std::string>();
    if (!last.empty()) all.last = last;
    for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
      const auto cause = in.get<std::string>();
      const auto count = in.get<std::uint64_t>();
      all.by_cause[cause] += count;
      all.runs += count;
    }
  }
  return all;
}

}  // namespace psn::services
