#include "psn/train/rank_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "psn/base/error.h"
#include "psn/ranks/message.h"

namespace psn {

void require_same(Communicator& ranks, const Parameters& parameters) {
  if (ranks.alone()) return;
  MessageWriter out;
  out.put(parameters.checksum());
  const std::vector<std::string> checksums = ranks.all_gather(out.take());
  std::vector<std::size_t> others;
  for (std::size_t rank = 1; rank < checksums.size(); ++rank) {
    if (checksums[rank] != checksums[0]) others.push_back(rank);
  }
  if (others.empty()) return;
  throw Error(fmt::format(
      "after {} updates the network of rank {} is no longer that of rank 0; do all machines have "
      "the same processors and the same psn?",
      parameters.step, fmt::join(others, ", ")));
}

std::string worst_address(Communicator& ranks, const BatchLoss& own) {
  MessageWriter out;
  out.put(own.worst_loss);
  out.put(own.worst ? own.worst->text : "");
  std::string worst;
  double most = -HUGE_VAL;
  for (const std::string& bytes : ranks.all_gather(out.take())) {
    MessageReader in(bytes);
    const auto loss = in.get<double>();
    const auto address = in.get<std::string>();
    if (address.empty() || std::isnan(most) || most == HUGE_VAL) continue;
    if (std::isfinite(loss) && loss <= most) continue;
    worst = address;
    most = loss;
  }
  return worst;
}

}  // namespace psn
