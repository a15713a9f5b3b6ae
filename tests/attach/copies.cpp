// Runs that are copied in the middle go on as runs that are made again on the same values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "psn/attach/simulator.h"
#include "psn/core/session.h"
#include "tests/attach/twins.h"

namespace psn {
namespace {

std::string described(const Trace& trace) {
  std::string text;
  for (const Entry& entry : trace.entries) {
    text += fmt::format("{} {:a}; ", entry.address->text, entry.value.scalar());
  }
  return text;
}

struct Told {
  std::vector<std::string> traces;
  std::uint64_t starts = 0;
};

// One run of four choices; before each is answered, a copy is made. Copies make no copies.
Told copied_at_each_choice(const std::string& program, bool fresh) {
  attach::Settings settings = attach::read_settings(test::settings_of("hmm"));
  settings.fresh = fresh;
  attach::AttachedSimulator simulator(fmt::format("attach:{} hmm", program),
                                      {.settings = settings});
  Told told;
  {
    const auto ensemble = simulator.ensemble(5);
    PriorGuide prior;
    RunOptions options{.seed = 7};
    Session session(*ensemble, prior, options);
    session.start(0, {0, 0});
    std::vector<std::string> ended(5);
    Slot next = 1;
    while (session.running() > 0) {
      for (const Pending& request : session.advance()) {
        const Slot slot = request.slot;
        switch (session.take(request)) {
          case Session::Taken::kChoice:
            if (slot == 0 && next < 5) {
              session.fork(0, next, {next, 1});
              ++next;
            }
            session.choose({&request, 1});
            break;
          case Session::Taken::kFinished:
            ended[slot] = described(session.trace(slot));
            break;
          case Session::Taken::kFailed:
            ADD_FAILURE() << simulator.failures().last;
            break;
          case Session::Taken::kAnswered:
            break;
        }
      }
    }
    told.traces = ended;
  }
  told.starts = simulator.starts();
  EXPECT_EQ(simulator.failures().runs, 0u);
  return told;
}

TEST(AttachedCopies, GoOnAsRunsThatAreMadeAgain) {
  for (const std::string& program : test::twins()) {
    const Told copied = copied_at_each_choice(program, false);
    const Told again = copied_at_each_choice(program, true);
    EXPECT_EQ(copied.traces, again.traces) << program;
    EXPECT_EQ(copied.starts, 1u);
    EXPECT_GE(again.starts, 6u);
    for (const std::string& trace : copied.traces) EXPECT_FALSE(trace.empty());
    // The last copy was made before the fourth choice: what comes before is the same.
    const std::string &first = copied.traces[0], &last = copied.traces[4];
    EXPECT_EQ(first.substr(0, first.size() / 5), last.substr(0, first.size() / 5));
  }
}

}  // namespace
}  // namespace psn
