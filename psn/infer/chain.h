// One Markov chain of Metropolis-Hastings: its current trace and the proposal under way.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/core/guide.h"
#include "psn/core/visits.h"
#include "psn/infer/metropolis.h"

namespace psn {

// Streams of a chain: traces use its iteration numbers, decisions (which site, accept) this one.
inline constexpr std::uint64_t kDecisionStream = ~std::uint64_t{0};

// Step sizes of the random walk, one per address, tuned to an acceptance rate during burn-in
// (Robbins-Monro).
class StepSizes {
 public:
  explicit StepSizes(double first) : first_log_(std::log(first)) {}

  double at(const Address& address) const;
  void adapt(const Address& address, double acceptance, std::size_t components);
  std::vector<ChainState::Step> adapted() const;
  void restore(const std::vector<ChainState::Step>& steps);

 private:
  struct Site {
    const Address* address = nullptr;  // null: never adapted
    double log_step = 0;
    double updates = 0;
  };
  Site& site(const Address& address);

  double first_log_;
  std::vector<Site> sites_;  // by address id
};

class Chain {
 public:
  using Options = MetropolisOptions;

  Chain(std::uint32_t id, const MetropolisOptions& options);
  Chain(const ChainState& state, const MetropolisOptions& options);

  std::uint32_t id() const { return id_; }
  std::uint64_t iteration() const { return iteration_; }
  std::uint64_t accepted() const { return accepted_; }  // after burn-in
  bool started() const { return started_; }
  const Trace& current() const { return current_; }
  // As it was before the proposal that is under way, if there is one.
  ChainState state() const;

  // Decides which site the next run changes.
  Ticket propose();
  Choice choose(const Pending& request);
  const Value* replay(const Pending& request);
  // The proposal could not be run to its end: rejected.
  void fail();
  // Accepts or rejects; true if the chain moved. The start counts as a move. `adapts`: its steps
  // do.
  bool finish(Trace& trace, bool adapts);
  // Goes on from there, which is none of its moves.
  void move_to(Trace trace);

 private:
  // How an entry may change. A value is kept only for a choice of the same class: an observation
  // that was given in one trace and is missing in the other is another kind of thing.
  enum class Class { kControlled, kUncontrolled, kFixed };
  static Class class_of(const Entry& entry);
  static bool has_uncontrolled(const Trace& trace);
  static std::size_t count(const Trace& trace);
  static bool unchanged(const Pending& request, const Entry& old);

  void count_start_attempt();
  std::size_t candidate_count() const { return sites_.size() + (has_uncontrolled_ ? 1 : 0); }
  void accept(Trace& trace);
  const Entry* find(const Address* address, Class wanted);
  void build_index();

  const MetropolisOptions& options_;
  std::uint32_t id_;
  Rng decisions_;
  std::uint64_t decisions_before_ = 0;  // their position before the proposal under way
  bool proposed_ = false;               // a proposal is under way
  StepSizes steps_;

  Trace current_;
  bool started_ = false;
  std::vector<std::size_t> sites_;  // entries that may be chosen
  bool has_uncontrolled_ = false;
  struct Position {
    std::uint64_t version = 0;
    std::size_t position = 0;
  };
  std::vector<Position> index_;        // by address id; entries of older versions are stale
  std::vector<std::uint32_t> visits_;  // by entry: its visit of the address; 0 for what is fixed
  Visits run_visits_;
  std::uint64_t version_ = 0;
  bool indexed_ = false;

  const Entry* chosen_ = nullptr;  // null: the uncontrolled choices together
  bool walk_ = false;
  bool reached_ = false;    // the run came to the chosen site
  std::size_t walked_ = 0;  // components of the random-walk step taken in this run
  double kept_ = 0;         // log p, in the current trace, of the choices that the run kept
  std::size_t cursor_ = 0;

  std::uint64_t runs_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t iteration_ = 0;
  std::uint64_t accepted_ = 0;
};

}  // namespace psn
