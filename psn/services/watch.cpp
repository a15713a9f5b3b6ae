#include "psn/services/watch.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/io/atomic_file.h"
#include "psn/io/csv.h"
#include "psn/io/descriptor.h"

namespace psn::services {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRowsFile = "/progress.csv";

// The rows of a log by column; an empty cell is NaN.
class Rows {
 public:
  explicit Rows(const std::string& path) {
    std::istringstream in(read_file(path));
    std::string line;
    std::getline(in, line);
    names_ = csv_cells(line);
    while (std::getline(in, line) && !in.eof()) {  // a line without an end is being written
      std::vector<double> row;
      for (const std::string& cell : csv_cells(line)) row.push_back(number(cell, path));
      if (row.size() != names_.size()) throw DataError(fmt::format("'{}' is damaged", path));
      rows_.push_back(std::move(row));
    }
  }

  bool empty() const { return rows_.empty(); }
  double last(const std::string& name) const { return at(rows_.size() - 1, name); }
  // The last that is there.
  std::optional<double> latest(const std::string& name) const {
    for (std::size_t i = rows_.size(); i-- > 0;) {
      if (const double x = at(i, name); !std::isnan(x)) return x;
    }
    return std::nullopt;
  }
  double at_half(const std::string& name) const {
    std::size_t i = rows_.size() - 1;
    while (i > 0 && at(i, "traces") > last("traces") / 2) --i;
    return at(i, name);
  }

 private:
  static double number(const std::string& cell, const std::string& path) try {
    return cell.empty() ? kNaN : std::stod(cell);
  } catch (const std::exception&) {
    throw DataError(fmt::format("'{}': '{}' is no number", path, cell));
  }

  double at(std::size_t row, const std::string& name) const {
    const auto column = std::find(names_.begin(), names_.end(), name) - names_.begin();
    return column == static_cast<std::ptrdiff_t>(names_.size())
               ? kNaN
               : rows_[row][static_cast<std::size_t>(column)];
  }

  std::vector<std::string> names_;
  std::vector<std::vector<double>> rows_;
};

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// How many traces it is to have, and how it ended; an old log does not tell.
struct Note {
  std::uint64_t traces = 0;
  std::string end;
};

Note note_in(const std::string& folder) {
  const std::string path = folder + "/training.json";
  if (!exists(path)) return {};
  try {
    const auto json = nlohmann::json::parse(read_file(path));
    return {json.at("traces").get<std::uint64_t>(), json.at("end").get<std::string>()};
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("'{}': {}", path, error.what()));
  }
}

TrainingPhase phase_of(const std::string& folder, const std::string& end) {
  if (end == "finished") return TrainingPhase::kFinished;
  if (end == "stopped") return TrainingPhase::kStopped;
  // A training has a lock on its rows, which ends with its process.
  const Descriptor rows(::open((folder + kRowsFile).c_str(), O_RDONLY | O_CLOEXEC));
  const bool locked = ::flock(rows.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return locked ? TrainingPhase::kRunning : TrainingPhase::kBrokenOff;
}

TrainingCourse course_of(const std::string& folder) {
  const Note note = note_in(folder);
  TrainingCourse course{
      .folder = folder, .phase = phase_of(folder, note.end), .total = note.traces};
  const Rows rows(folder + kRowsFile);
  course.loss = course.kl = course.learning_rate = kNaN;
  if (rows.empty()) return course;
  const auto count = [](double x) { return x > 0 ? static_cast<std::uint64_t>(x) : 0; };
  course.traces = count(rows.last("traces"));
  course.seconds = rows.last("seconds");
  course.traces_per_second = rows.last("traces_per_second");
  course.loss = rows.last("loss");
  course.kl = rows.last("kl");
  course.learning_rate = rows.last("learning_rate");
  course.addresses = count(rows.last("addresses"));
  course.transitions = count(rows.last("transitions"));
  course.new_addresses = count(rows.last("addresses") - rows.at_half("addresses"));
  const bool surrogate = !std::isnan(course.kl);
  course.held_out = rows.latest(surrogate ? "validation/kl" : "validation/loss");
  course.held_out_error = rows.latest("validation/standard_error");
  return course;
}

std::vector<std::string> logs_in(const std::string& folder) {
  if (exists(folder + kRowsFile)) return {folder};
  std::vector<std::string> logs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (exists(entry.path().string() + kRowsFile)) logs.push_back(entry.path().string());
  }
  if (logs.empty()) {
    throw DataError(fmt::format("'{}' has no log of a training (psn train --log)", folder));
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

std::optional<double> TrainingCourse::seconds_left() const {
  if (phase != TrainingPhase::kRunning || total <= traces || !(traces_per_second > 0)) {
    return std::nullopt;
  }
  return static_cast<double>(total - traces) / traces_per_second;
}

std::vector<TrainingCourse> training_courses(const std::vector<std::string>& folders) {
  std::vector<TrainingCourse> courses;
  for (const std::string& folder : folders) {
    for (const std::string& log : logs_in(folder)) courses.push_back(course_of(log));
  }
  return courses;
}

}  // namespace psn::services
