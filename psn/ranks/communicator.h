// Communicator: how processes that work on one thing ("ranks") talk to each other. This class
// itself is a process alone; the one for MPI is loaded when the process was started by mpirun.
//
// Every rank makes the same calls in the same order: each waits for all. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace psn {

class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual std::uint32_t rank() const { return 0; }
  virtual std::uint32_t size() const { return 1; }

  // Element by element over all ranks, which must come with the same number of them and get the
  // same bits: the sum, and the bitwise or.
  virtual void sum(std::span<float>) {}
  virtual void sum(std::span<double>) {}
  virtual void any(std::span<std::uint64_t>) {}
  // The bytes of every rank, by rank: to all, and to rank 0 only (nothing to the others).
  virtual std::vector<std::string> all_gather(std::string own);
  virtual std::vector<std::string> gather(std::string own) { return all_gather(std::move(own)); }
  // Rank 0's bytes, to all.
  virtual void broadcast(std::string&) {}
  // Ends all ranks at once, whatever they do; this one with the exit code.
  [[noreturn]] virtual void abort(int exit_code);

  bool alone() const { return size() == 1; }
  bool leads() const { return rank() == 0; }
};

// The ranks that mpirun started, or this process alone. DataError if the part of psn that speaks
// MPI is missing or cannot be loaded.
std::unique_ptr<Communicator> started_ranks();

}  // namespace psn
