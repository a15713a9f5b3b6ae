// psn watch: trainings under way, side by side.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/duration.h"
#include "apps/psn/options/options.h"
#include "psn/services/watch.h"

namespace psn::app {
namespace {

using services::TrainingCourse;
using services::TrainingPhase;

struct WatchOptions {
  CommonOptions common;
  std::vector<std::string> folders;
  std::string every = "2s";
  bool once = false;
};

const char* phase_name(TrainingPhase phase) {
  switch (phase) {
    case TrainingPhase::kRunning:
      return "running";
    case TrainingPhase::kFinished:
      return "finished";
    case TrainingPhase::kStopped:
      return "stopped";
    case TrainingPhase::kBrokenOff:
      return "broken off";
  }
  return "";
}

nlohmann::ordered_json course_json(const TrainingCourse& c) {
  nlohmann::ordered_json json{
      {"folder", c.folder},       {"phase", phase_name(c.phase)},
      {"traces", c.traces},       {"total", c.total},
      {"seconds", c.seconds},     {"traces_per_second", c.traces_per_second},
      {"loss", c.loss},           {"learning_rate", c.learning_rate},
      {"addresses", c.addresses}, {"new_addresses", c.new_addresses}};
  if (!std::isnan(c.kl)) {
    json["kl"] = c.kl;
    json["transitions"] = c.transitions;
  }
  if (c.held_out) json["held_out"] = *c.held_out;
  if (const auto left = c.seconds_left()) json["seconds_left"] = *left;
  return json;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
}

std::string figure(double x) {
  return std::isnan(x) ? "-" : fmt::format("{:.4g}", x);
}

// A line of names and one for each training.
std::string table(const std::vector<TrainingCourse>& courses) {
  std::size_t width = 8;
  for (const TrainingCourse& c : courses) width = std::max(width, c.folder.size());
  std::string text = fmt::format("{:<{}} {:>21} {:>9} {:>9} {:>17} {:>9} {:>16} {:>11} {:>8}  {}\n",
                                 "", width, "traces", "loss", "KL", "held out", "rate",
                                 "addresses (new)", "transitions", "traces/s", "left");
  for (const TrainingCourse& c : courses) {
    const std::string traces =
        c.total > 0 ? fmt::format("{} of {}", c.traces, c.total) : fmt::format("{}", c.traces);
    const std::string held_out =
        c.held_out ? fmt::format("{:.4f} +- {:.4f}", *c.held_out, c.held_out_error.value_or(0))
                   : "-";
    const auto left = c.seconds_left();
    text +=
        fmt::format("{:<{}} {:>21} {:>9} {:>9} {:>17} {:>9} {:>16} {:>11} {:>8.0f}  {}\n", c.folder,
                    width, traces, figure(c.loss), figure(c.kl), held_out, figure(c.learning_rate),
                    fmt::format("{} (+{})", c.addresses, c.new_addresses),
                    std::isnan(c.kl) ? "-" : fmt::format("{}", c.transitions), c.traces_per_second,
                    left ? time_text(*left) : phase_name(c.phase));
  }
  return text;
}

void show(const std::vector<TrainingCourse>& courses, const WatchOptions& options, bool again) {
  if (options.common.json) {
    auto json = nlohmann::ordered_json::array();
    for (const TrainingCourse& c : courses) json.push_back(course_json(c));
    fmt::print("{}\n", json.dump(options.once ? 2 : -1));
  } else {
    // On a terminal in place of the one before.
    if (again && ::isatty(STDOUT_FILENO) == 1) fmt::print("\033[{}A\033[J", courses.size() + 1);
    fmt::print("{}", table(courses));
  }
  std::fflush(stdout);
}

void watch_command(const WatchOptions& options) {
  const std::chrono::duration<double> pause(std::max(0.1, seconds_of(options.every)));
  for (bool again = false;; again = true) {
    const auto courses = services::training_courses(options.folders);
    show(courses, options, again);
    const bool all_ended = std::all_of(courses.begin(), courses.end(), [](const TrainingCourse& c) {
      return c.phase != TrainingPhase::kRunning;
    });
    if (options.once || all_ended) return;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

void add_watch_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "watch", "trainings under way: loss, KL, growth and the time left, until they end");
  auto options = std::make_shared<WatchOptions>();
  command
      ->add_option("folders,--folders", options->folders,
                   "folders of psn train --log, or with such folders in them")
      ->required()
      ->expected(1, 1 << 20);
  command->add_option("--every", options->every, "time from one look to the next")
      ->capture_default_str()
      ->check(duration());
  command->add_flag("--once", options->once, "one look");
  options->common.add_to(*command);
  command->callback([options] { watch_command(*options); });
}

}  // namespace psn::app
