#include "apps/psn/ranks.h"

namespace psn::app {

Communicator& ranks() {
  static const std::unique_ptr<Communicator> started = started_ranks();
  return *started;
}

}  // namespace psn::app
