#include "psn/train/training_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"

namespace psn {
namespace {

// What of a report is a column and a curve; both begin with the number of updates.
Scalars scalars_of(const Progress& p, bool infers) {
  Scalars scalars{{"traces", static_cast<double>(p.traces)},
                  {"seconds", p.seconds},
                  {"loss", p.loss},
                  {"learning_rate", p.rate},
                  {"addresses", static_cast<double>(p.addresses)},
                  {"traces_per_second", p.traces_per_second}};
  if (!infers) {
    scalars.emplace_back("kl", p.kl);
    scalars.emplace_back("transitions", static_cast<double>(p.transitions));
  }
  if (!p.validation) return scalars;
  const Validation& v = *p.validation;
  scalars.emplace_back("validation/loss", v.loss);
  scalars.emplace_back("validation/unseen", static_cast<double>(v.unseen));
  if (!infers) scalars.emplace_back("validation/kl", v.kl);
  scalars.emplace_back("validation/standard_error", v.standard_error);
  return scalars;
}

std::string csv_header(bool infers) {
  Progress everything;
  everything.validation.emplace();
  std::string header = "updates";
  for (const auto& [name, value] : scalars_of(everything, infers)) header += "," + name;
  return header + "\n";
}

// The rows of a file up to a number of updates, one for each number: the last row of all has the
// same as the one before and will come again.
std::string rows_until(const std::string& path, std::uint64_t updates) {
  std::istringstream in(read_file(path));
  std::string kept, line;
  std::optional<std::uint64_t> last;
  std::getline(in, line);                        // the header
  while (std::getline(in, line) && !in.eof()) {  // a line without an end was cut off
    std::uint64_t at = 0;
    const auto end = std::from_chars(line.data(), line.data() + line.size(), at).ptr;
    if (end == line.data() + line.size() || *end != ',') {
      throw DataError(fmt::format("'{}': '{}' is no row of a training's log", path, line));
    }
    if (at > updates || at == last) continue;
    kept += line + "\n";
    last = at;
  }
  return kept;
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

TrainingLog::TrainingLog(const std::string& folder, bool infers, bool again,
                         const TrainingState* state)
    : folder_(folder), csv_path_(folder + "/progress.csv"), infers_(infers) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw DataError(fmt::format("cannot create '{}': {}", folder, error.message()));
  std::string rows;
  if (std::filesystem::exists(csv_path_, error)) {
    if (!again) {
      throw InvalidArgument(fmt::format("'{}' has the log of another training", folder));
    }
    if (state) rows = rows_until(csv_path_, state->reported);
  }
  std::filesystem::remove(folder + "/summary.json", error);  // of the work that now goes on
  write_file_atomically(csv_path_, csv_header(infers) + rows);
  csv_.open(csv_path_, std::ios::app);
  lock_ = Descriptor(::open(csv_path_.c_str(), O_RDONLY | O_CLOEXEC));
  [[maybe_unused]] const bool locked = lock_.lock();  // not where the file system knows no locks
  events_ = std::make_unique<EventFile>(
      fmt::format("{}/events.out.tfevents.{}.{}", folder, unix_seconds(), ::getpid()),
      state ? static_cast<std::int64_t>(state->reported) + 1 : 0);
}

void TrainingLog::note(std::uint64_t traces, const std::string& end) {
  write_file_atomically(folder_ + "/training.json",
                        fmt::format("{{\"traces\": {}, \"end\": \"{}\"}}\n", traces, end));
}

void TrainingLog::add(const Progress& progress) {
  const Scalars scalars = scalars_of(progress, infers_);
  std::string row = fmt::format("{}", progress.batches);
  for (const auto& [name, value] : scalars) row += fmt::format(",{}", value);
  if (!progress.validation) row.append(infers_ ? 3 : 4, ',');
  csv_ << row << std::endl;
  if (!csv_) {
    throw DataError(fmt::format("cannot write '{}': {}", csv_path_, std::strerror(errno)));
  }
  events_->add(static_cast<std::int64_t>(progress.batches), scalars);
}

}  // namespace psn
