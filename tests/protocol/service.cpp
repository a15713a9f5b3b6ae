// Who may have a run, who waits, and who loses it: the server without its sockets.
#include "psn/ppx/service.h"

#include <gtest/gtest.h>

#include "psn/core/in_process.h"
#include "tests/protocol/describe.h"

namespace psn::ppx {
namespace {

using namespace std::chrono_literals;

const std::string kAsked = "Sample 'x' 'x' Normal(mean=0, stddev=1) controlled";

class Served : public testing::Test {
 protected:
  Served() {
    options_.log = [this](const std::string& line) { log_.push_back(line); };
  }

  // The replies that come at once, to whoever: "a Reset; b RunResult 1".
  std::string say(const std::string& engine, const Message& message) {
    Encoder encoder(ScalarShape::kOne);
    heard_.clear();
    service_.take(engine, encoder.encode(message));
    return heard_;
  }
  std::string after(std::chrono::seconds time) {
    heard_.clear();
    now_ += time;
    service_.admit();
    return heard_;
  }

  InProcess simulator_{Model("m", [](Context& ctx) {
    const double x = ctx.sample(Normal(0, 1), {.name = "x"});
    return ctx.observe(Normal(x, 1), 7.0, {.name = "y"});
  })};
  ServeOptions options_{.max_runs = 2, .patience = 60s};
  std::string heard_;
  std::vector<std::string> log_;
  Service::Time now_{};
  Service service_{simulator_, options_,
                   [this](const std::string& engine, auto message) {
                     heard_ +=
                         (heard_.empty() ? "" : "; ") + engine + " " + describe(decode(message));
                   },
                   [this] { return now_; }};
};

TEST_F(Served, ARunBelongsToItsEngine) {
  EXPECT_EQ(say("a", ppx::Run{}), "a " + kAsked);
  EXPECT_EQ(say("b", ppx::Run{}), "b " + kAsked);
  EXPECT_EQ(say("a", SampleResult{1.0}), "a Observe 'y' 'y' Normal(mean=1, stddev=1) 7");
  EXPECT_EQ(say("b", SampleResult{2.0}), "b Observe 'y' 'y' Normal(mean=2, stddev=1) 7");
  EXPECT_EQ(say("b", ObserveResult{}), "b RunResult 7");  // the program's own data
  EXPECT_EQ(say("a", ObserveResult{5.0}), "a RunResult 5");
  EXPECT_EQ(say("a", ObserveResult{5.0}), "a Reset");
}

TEST_F(Served, WhoFindsNoRoomWaitsInTurn) {
  say("a", ppx::Run{});
  say("b", ppx::Run{});
  EXPECT_EQ(say("c", ppx::Run{}), "");
  EXPECT_EQ(say("d", ppx::Run{}), "");
  EXPECT_EQ(say("e", Handshake{"x"}).substr(0, 17), "e HandshakeResult");
  say("a", SampleResult{1.0});
  EXPECT_EQ(say("a", ObserveResult{}), "a RunResult 7; c " + kAsked);
  EXPECT_EQ(say("a", ppx::Run{}), "");
  service_.leave("b");
  EXPECT_EQ(after(0s), "d " + kAsked);
  EXPECT_EQ(say("c", TagResult{}), "c Reset; a " + kAsked);
  EXPECT_EQ(service_.runs(), 2u);
  EXPECT_EQ(service_.waiting(), 0u);
}

TEST_F(Served, WhoIsSilentLosesItsRunIfOthersWait) {
  say("a", ppx::Run{});
  EXPECT_EQ(after(3600s), "");
  EXPECT_EQ(say("a", SampleResult{1.0}).substr(0, 9), "a Observe");  // nobody minds
  say("b", ppx::Run{});
  EXPECT_EQ(after(59s), "");
  EXPECT_EQ(say("b", SampleResult{2.0}).substr(0, 9), "b Observe");
  EXPECT_EQ(say("c", ppx::Run{}), "");
  EXPECT_EQ(after(1s), "c " + kAsked);
  EXPECT_EQ(log_,
            std::vector<std::string>{
                "an engine fell silent in the middle of a run, and others wait: it is given up"});
  EXPECT_EQ(say("a", ObserveResult{}), "a Reset");
}

TEST_F(Served, DataMayBeWithheld) {
  options_.withhold_data = true;
  say("a", ppx::Run{});
  EXPECT_EQ(say("a", SampleResult{1.0}), "a Observe 'y' 'y' Normal(mean=1, stddev=1) []");
  EXPECT_EQ(say("a", ObserveResult{}), "a RunResult 7");  // the program has them still
}

TEST_F(Served, AFloodOfNonsenseDoesNotFloodTheLog) {
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(say("a", Reset{}), "a Reset");
  EXPECT_EQ(log_.size(), 20u);
  say("a", ppx::Run{});
  EXPECT_EQ(say("a", Reset{}), "a Reset");
  EXPECT_EQ(log_.back(), "the engine sent Reset");
  EXPECT_EQ(log_.size(), 21u);
}

}  // namespace
}  // namespace psn::ppx
