#include "apps/psn/ranks.h"

#include <algorithm>

#include "psn/base/bytes.h"

namespace psn::app {

Communicator& ranks() {
  static const std::unique_ptr<Communicator> started = started_ranks();
  return *started;
}

Part own_part(std::uint64_t count) {
  const std::uint64_t rank = ranks().rank(), size = ranks().size();
  const auto before = [&](std::uint64_t r) { return count / size * r + std::min(r, count % size); };
  return {before(rank), before(rank + 1) - before(rank)};
}

Posterior joined(Posterior own) {
  if (ranks().alone()) return own;
  const std::vector<std::string> parts = ranks().gather(own.serialize());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    own.append(Posterior::parse(parts[rank], "message between ranks"));
  }
  return own;
}

void join(Draws& own) {
  if (ranks().alone()) return;
  const std::vector<std::string> parts = ranks().gather(own.serialize());
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    own.merge(Draws::parse(parts[rank], "message between ranks"));
  }
}

Failures joined(Failures own) {
  if (ranks().alone()) return own;
  ByteWriter out;
  out.put(own.last);
  out.put(std::uint64_t{own.by_cause.size()});
  for (const auto& [cause, count] : own.by_cause) {
    out.put(cause);
    out.put(count);
  }
  Failures all;
  for (const std::string& bytes : ranks().all_gather(out.take())) {
    ByteReader in(bytes);
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

}  // namespace psn::app
