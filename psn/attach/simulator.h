// AttachedSimulator: a program that knows nothing of psn, as a Simulator. A library that is put in
// front of it (psn/attach/preload) asks for its random numbers here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "psn/attach/outputs.h"
#include "psn/attach/settings.h"
#include "psn/core/ensemble.h"

namespace psn::attach {

inline constexpr std::string_view kPrefix = "attach:";

inline bool is_attached(const std::string& argument) {
  return argument.starts_with(kPrefix);
}

struct AttachOptions {
  Settings settings;
  std::size_t runs_at_once = 0;    // 0: two for each core
  std::uint64_t max_failures = 0;  // runs that may fail before the work is given up
  double start_limit = 60;         // seconds from a start to the first random choice
  double message_limit = 3600;     // seconds from one choice to the next; 0: none
  double run_limit = 0;            // seconds for a whole run; 0: none
  // Told of each run that has ended, before its outputs are looked for. May be null.
  std::function<void(const Leavings&)> ended;
};

class AttachedSimulator : public Simulator {
 public:
  // "attach:COMMAND". Starts the program; throws ModelError if it does not come to a random choice.
  AttachedSimulator(const std::string& argument, AttachOptions options);
  ~AttachedSimulator() override;

  const std::string& name() const override;
  AddressTable& addresses() override;
  // One at a time.
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;
  std::size_t max_simulations() const override;
  std::size_t max_threads() const override { return 1; }  // one talks to all
  std::uint64_t runs() const override;
  Failures failures() const override;
  void forget_failures() override;

  // Why every run is a start of its own; "" if runs are copies of one process.
  const std::string& limits() const;
  std::uint64_t starts() const;
  // Files of code that the program had loaded before its first choice, by their names.
  const std::map<std::string, std::string>& modules() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace psn::attach
