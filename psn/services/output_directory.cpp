#include "psn/services/output_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/io/atomic_file.h"

namespace psn::services {
namespace {

namespace fs = std::filesystem;

bool is_writable(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

// The nearest folder on the way there that exists.
fs::path existing_part(const std::string& path) {
  std::error_code error;
  fs::path existing = fs::absolute(path, error);
  while (!fs::exists(existing, error) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  return existing;
}

void create(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw DataError(fmt::format("cannot create '{}': {}", path, error.message()));
}

void move_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  throw DataError(fmt::format("cannot write '{}': {}", to, std::strerror(errno)));
}

}  // namespace

std::string place_beside(const std::string& directory) {
  std::string name = directory.substr(0, directory.find_last_not_of('/') + 1);
  const fs::path last = fs::path(name).filename();
  std::error_code error;
  const bool nameless = last.empty() || last == "." || last == "..";
  if (!nameless && is_writable(existing_part(fs::absolute(name, error).parent_path().string()))) {
    return name;
  }
  return directory + "/psn";
}

OutputDirectory::OutputDirectory(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (!is_writable(existing_part(path_))) {
    throw DataError(fmt::format("cannot write results into '{}'", path_));
  }
  remove_abandoned(place_beside(path_));
  remove_abandoned(path_ + "/psn");
}

OutputDirectory::~OutputDirectory() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

void OutputDirectory::make_staging() {
  std::error_code error;
  const bool is_new = !fs::exists(path_, error) || fs::is_empty(path_, error);
  const std::string base = is_new ? place_beside(path_) : path_ + "/psn";
  staging_ = fmt::format("{}.{}.tmp", base, ::getpid());
  create(staging_);
  lock_ = hold_temporary_folder(staging_);
}

std::string OutputDirectory::file(const std::string& name) {
  if (staging_.empty()) make_staging();
  names_.push_back(name);
  return staging_ + "/" + name;
}

void OutputDirectory::write(const std::string& name, const std::string& content) {
  write_file_atomically(file(name), content);
}

void OutputDirectory::publish() {
  if (names_.empty()) return;
  // Replaces a directory only if that is empty.
  if (std::rename(staging_.c_str(), path_.c_str()) != 0) move_files();
  std::error_code error;
  sync_folder(fs::absolute(path_, error).string());
  sync_folder(fs::absolute(path_, error).parent_path().string());
  names_.clear();
  staging_.clear();
}

void OutputDirectory::move_files() {
  create(path_);
  std::error_code ignored;
  fs::remove(path_ + "/" + names_.back(), ignored);
  for (const std::string& name : names_) move_file(staging_ + "/" + name, path_ + "/" + name);
  fs::remove_all(staging_, ignored);
}

}  // namespace psn::services
