// ProgramHost: psn as the host of services. While work goes on it shows how far it is, turns
// Ctrl-C, SIGTERM and SIGHUP into a clean stop, and ends the program if a simulation hangs:
// in-process code cannot be stopped otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "apps/psn/exit_codes.h"
#include "apps/psn/output/status_line.h"
#include "psn/services/host.h"

namespace psn::app {

class ProgramHost : public services::Host {
 public:
  // `progress`: show it, on rank 0. `time_limit`: seconds without a step before a simulation counts
  // as hung; 0: none does.
  explicit ProgramHost(bool progress, double time_limit = 0);
  ~ProgramHost() override { work_ends(); }

  std::vector<Model> models() const override;
  Communicator& ranks() override;
  void work_begins(const services::Work& work) override;
  void work_goes_on_from(std::uint64_t traces) override;
  void note(const std::string& text) override;
  void work_ends() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Observed {  // of a heartbeat
    std::uint64_t steps = 0;
    Clock::time_point since;
  };
  struct Verdict {
    std::string message;
    ExitCode code;
  };

  void look_after();
  double seconds() const;  // since the work began
  std::string progress_line() const;
  void look_for_hang();
  // Seconds that it has not moved for, and not been asked to stop for if it was.
  double idle(const Heartbeat& heartbeat, Clock::time_point now);
  void end_program(const Verdict& verdict);

  const bool progress_;
  const double time_limit_;
  services::Work work_;
  Clock::time_point start_ = Clock::now();
  std::unordered_map<const Heartbeat*, Observed> observed_;
  std::optional<Clock::time_point> stopped_;
  std::optional<Verdict> verdict_;
  std::optional<StatusLine> line_;
  mutable std::mutex mutex_;  // of the two below
  std::string note_;
  std::pair<std::uint64_t, double> begun_{0, 0};  // traces and seconds at the beginning
  std::atomic<bool> done_{true};
  std::thread thread_;
};

}  // namespace psn::app
