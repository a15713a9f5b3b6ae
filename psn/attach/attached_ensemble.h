// W runs of an attached program, all answered from one thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "psn/attach/runs.h"
#include "psn/attach/simulator.h"
#include "psn/core/address_cache.h"

namespace psn::attach {

class AttachedEnsemble : public Ensemble {
 public:
  // `give_back` takes the runs when the ensemble is destroyed.
  AttachedEnsemble(std::size_t width, std::unique_ptr<Runs> runs, const AttachOptions& options,
                   AddressTable& addresses, FailureLog& failures,
                   std::function<void(std::unique_ptr<Runs>)> give_back);
  ~AttachedEnsemble() override;

  std::size_t width() const override { return slots_.size(); }
  void watch(Heartbeat* heartbeat) override { heartbeat_ = heartbeat; }
  void start(Slot slot, const Ticket& ticket, const Rng& rng) override;
  void answer(Slot slot, const Value& value) override;
  std::span<const Pending> advance() override;
  void abandon(Slot slot) override;
  bool fork(Slot from, Slot to, const Ticket& ticket, const Rng& rng) override;

 private:
  using Clock = std::chrono::steady_clock;

  // What is said at the end of a run, one after the other.
  struct Telling {
    const Output* output;
    double number;
    std::optional<std::int64_t> index;
  };
  struct Simulated {
    bool running = false, asks = false;
    std::uint64_t run = 0;  // 0: it has ended, and tells of its outputs
    Ticket ticket;
    Rng rng;
    std::optional<Distribution> distribution;  // of what is pending
    Value value;
    Request request;  // that is pending
    std::deque<Telling> tellings;
    std::string cause, detail;  // of a failure that waits for an answer to come first
    std::unordered_map<const Variable*, std::uint32_t> visits;
    std::unordered_map<const SiteRule*, std::int64_t> places;
    const Address* last = nullptr;
    Clock::time_point message_deadline, run_deadline;
  };

  void take(const Event& event);
  void take_draw(Slot slot, const Packet& packet);
  void take_end(Slot slot, int exit_code);
  void tell_next(Slot slot);
  void fail(Slot slot, const std::string& cause, const std::string& detail);
  void keep_time();
  const Address* address(Simulated& simulated, const SiteOptions& options, std::string_view type);
  void add(Slot slot, const Request& request);

  std::unique_ptr<Runs> runs_;
  const AttachOptions& options_;
  AddressCache addresses_;
  FailureLog& failures_;
  std::function<void(std::unique_ptr<Runs>)> give_back_;
  std::unordered_map<std::string, const SiteRule*> rules_;  // by address
  std::unordered_map<std::uint64_t, Slot> slot_of_;         // by run
  std::vector<Simulated> slots_;
  std::vector<Slot> repeated_;  // copies, whose request is to come up again
  std::vector<Slot> ready_;     // to tell of outputs, or of a failure
  std::vector<Pending> pending_;
  Clock::time_point next_look_{};  // at what runs print
  Heartbeat* heartbeat_ = nullptr;
};

}  // namespace psn::attach
