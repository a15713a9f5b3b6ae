// Two queues in series, from a heap of events. Customers leave in the order they came; the times at
// which they do are seen with errors.
#include <algorithm>
#include <cmath>
#include <queue>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-queues --seed 1 --given arrival=1 rate_a=1.5 rate_b=1.2
const std::vector<double> kDepartures = {1.406,  3.183,  5.233,  5.108,  5.27,
                                         5.392,  5.339,  8.226,  10.782, 11.861,
                                         11.302, 12.843, 13.067, 13.714, 13.645};

struct QueueEvent {
  double time;
  int place;  // 0: arrives; 1, 2: has been served there
  std::int64_t customer;
  bool operator<(const QueueEvent& other) const { return time > other.time; }  // earliest on top
};

struct Desk {
  std::queue<std::int64_t> waiting;
  bool busy = false;
};

void queues_program(Context& ctx) {
  constexpr std::int64_t kCustomers = 15;
  constexpr const char* kNames[] = {"gap", "service_a", "service_b"};
  const double rate[] = {ctx.sample(LogNormal(0, 0.4), {.name = "arrival"}),
                         ctx.sample(LogNormal(std::log(1.5), 0.4), {.name = "rate_a"}),
                         ctx.sample(LogNormal(std::log(1.5), 0.4), {.name = "rate_b"})};
  Desk desks[3];
  std::priority_queue<QueueEvent> events;
  const auto schedule = [&](double now, int place, std::int64_t customer) {
    const double wait =
        ctx.sample(Exponential(rate[place]), {.name = kNames[place], .index = customer});
    events.push({now + wait, place, customer});
  };
  const auto serve = [&](double now, int place) {
    Desk& desk = desks[place];
    if (desk.busy || desk.waiting.empty()) return;
    schedule(now, place, desk.waiting.front());
    desk.waiting.pop();
    desk.busy = true;
  };
  schedule(0, 0, 0);
  while (!events.empty()) {
    const auto [now, place, customer] = events.top();
    events.pop();
    if (place == 0 && customer + 1 < kCustomers) schedule(now, 0, customer + 1);
    if (place == 2) ctx.observe(Normal(now, 0.3), {.name = "departure", .index = customer});
    if (place < 2) desks[place + 1].waiting.push(customer);
    desks[place].busy = false;
    for (int desk = std::max(1, place); desk <= std::min(2, place + 1); ++desk) serve(now, desk);
  }
}

}  // namespace

Program queues() {
  return {.model = {"zoo-queues", queues_program, "two queues in series, from a heap of events"},
          .observed = {{"departure", kDepartures}},
          .judged = {{"arrival"}, {"rate_a"}, {"rate_b"}},
          .source =
              "a Markov chain over three rates on a particle filter's likelihood, customer by "
              "customer",
          .answer = references::queues,
          .long_run = [] { return references::queues_long_run(kDepartures); }};
}

}  // namespace psn::zoo
