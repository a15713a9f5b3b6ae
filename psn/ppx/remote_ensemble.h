// The engine's side of PPX conversations: W runs on P simulators, all answered from one thread. A
// run waits for a simulator that is free; a slow one holds no other.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "psn/core/address_cache.h"
#include "psn/core/ensemble.h"
#include "psn/ppx/link.h"

namespace psn::ppx {

using Links = std::vector<std::unique_ptr<Link>>;

class RemoteEnsemble : public Ensemble {
 public:
  // `give_back` takes the links when the ensemble is destroyed.
  RemoteEnsemble(std::size_t width, Links links, LinkContext& context, AddressTable& addresses,
                 FailureLog& failures, std::function<void(Links)> give_back);
  ~RemoteEnsemble() override;

  std::size_t width() const override { return width_; }
  void watch(Heartbeat* heartbeat) override { heartbeat_ = heartbeat; }
  void start(Slot slot, const Ticket& ticket, const Rng& rng) override;
  void answer(Slot slot, const Value& value) override;
  std::span<const Pending> advance() override;
  // PPX has no message that ends a run: its simulator goes on by itself, unheard, with values drawn
  // from the model, and takes up another run when it is done.
  void abandon(Slot slot) override;

  // The first simulator that has introduced itself; nullptr if none has yet.
  const Link* first_up() const;
  // Is there a peer at any of the links?
  bool any_reached() const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr Slot kNoSlot = ~Slot{0};

  struct Run {
    Ticket ticket;
    Rng rng;
    std::size_t link = kNone;  // by index; none while it waits for one
    Message request;           // the one that is pending
    const Address* last = nullptr;
    std::unordered_map<std::string_view, std::uint32_t> visits;  // of addresses without instance
    Clock::time_point message_deadline, run_deadline;
  };

  void assign();
  void wait();
  void tend();
  // Does its run wait for us, not we for it?
  bool is_asking(std::size_t link) const {
    return slot_of_[link] != kNoSlot && !links_[link]->is_expecting();
  }
  void send(Slot slot, const Message& message);
  void receive(std::size_t link);
  void greeted(std::size_t link, const Message& answer);
  // Turns a request of the simulator into a pending one; throws OutOfStep, or another Error for
  // what no program may ask.
  struct OutOfStep {};
  void take(Slot slot, Message message);
  void take(Slot slot, const Sample& request);
  void take(Slot slot, const Observe& request);
  void take(Slot slot, const Tag& request);
  void take(Slot slot, const RunResult& request);
  template <class Other>
  void take(Slot slot, const Other& request);
  template <class M>
  const Address* address(Slot slot, const M& request, const Distribution* distribution,
                         std::string_view type);
  void add(Slot slot, const Request& request);
  // Runs that were given up have slots past those of the ensemble.
  bool is_given_up(Slot slot) const { return slot >= width_; }
  void end_unheard(Slot slot);
  // Something is wrong with a link, and so with its run if it has one.
  void fail(std::size_t link, const std::string& cause, const std::string& detail);
  void was_reset(std::size_t link);
  void abandon(Slot slot, const std::string& cause, const std::string& detail);
  void beat();

  AddressCache addresses_;
  FailureLog& failures_;
  Poller& poller_;
  const RemoteOptions& options_;
  std::function<void(Links)> give_back_;
  Links links_;
  std::vector<Slot> slot_of_;  // by link; kNoSlot if it has no run
  std::size_t width_;
  std::vector<Run> runs_;     // in flight, and then those that were given up
  std::deque<Slot> waiting_;  // for a link
  std::vector<Pending> pending_;
  Clock::time_point next_tending_{};
  Heartbeat* heartbeat_ = nullptr;
};

}  // namespace psn::ppx
