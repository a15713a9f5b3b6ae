// Trainings under way, as their logs tell (psn train --log): from any process, at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace psn::services {

enum class TrainingPhase {
  kRunning,
  kFinished,
  kStopped,    // by its time limit, to be resumed
  kBrokenOff,  // its process ended without a word
};

// The last row of a log. NaN: not known, or not of this kind of network.
struct TrainingCourse {
  std::string folder;
  TrainingPhase phase = TrainingPhase::kRunning;
  std::uint64_t traces = 0, total = 0;  // so far; in all, 0 if that is not known
  double seconds = 0, traces_per_second = 0;
  double loss = 0, kl = 0, learning_rate = 0;
  std::uint64_t addresses = 0, transitions = 0;
  std::uint64_t new_addresses = 0;  // since half as many traces
  // Of the last row that has them: KL of a surrogate, loss of an inference network.
  std::optional<double> held_out, held_out_error;

  std::optional<double> seconds_left() const;
};

// Of each folder its own log, or those in the folders within it, by name. Throws DataError if there
// is none, or one that is damaged.
std::vector<TrainingCourse> training_courses(const std::vector<std::string>& folders);

}  // namespace psn::services
