#include "psn/attach/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "psn/base/error.h"

namespace psn::attach {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 512;

// Ends when nobody can write to its standard input any more. Once more after a while, for a run
// may still have been writing.
constexpr const char* kWatch =
    "trap '' INT TERM HUP; read -r line; rm -rf -- \"$1\" || { sleep 1; rm -rf -- \"$1\"; }";

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
    if (names.size() <= kMostFiles) continue;
    throw InvalidArgument(fmt::format(
        "attach: this folder has more than {} files, and every run finds them in a folder of its "
        "own: work in another one, or name those that the program reads, `files` of [program] in "
        "the file of `attach`",
        kMostFiles));
  }
  return names;
}

}  // namespace

Workspace::Workspace(ppx::ProcessStarter& starter,
                     const std::optional<std::vector<std::string>>& files) {
  from_ = fs::current_path().string();
  names_ = files ? *files : names_in(from_);
  path_ = (fs::temp_directory_path() / "psn-attach-").string() + "XXXXXX";
  if (!::mkdtemp(path_.data())) throw DataError(fmt::format("cannot make '{}'", path_));
  start_watcher(starter);
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  alive_.close();
  int status = 0;
  while (::waitpid(watcher_, &status, 0) < 0 && errno == EINTR) continue;
}

void Workspace::start_watcher(ppx::ProcessStarter& starter) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw DataError("cannot make a pipe");
  const Descriptor read_end(pipe[0]);
  alive_ = Descriptor(pipe[1]);
  const std::array<const char*, 6> words{"sh", "-c", kWatch, "psn-watch", path_.c_str(), nullptr};
  starter.call([&] {
    watcher_ = ::fork();
    if (watcher_ != 0) return;
    ::setsid();
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(read_end.get(), STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv("/bin/sh", const_cast<char**>(words.data()));
    ::_exit(127);
  });
}

std::string Workspace::folder(std::size_t number) {
  std::string made = fmt::format("{}/{}", path_, number);
  std::error_code error;
  if (fs::create_directory(made, error)) link(made);
  if (error) throw DataError(fmt::format("cannot make '{}': {}", made, error.message()));
  return made;
}

void Workspace::link(const std::string& folder) const {
  for (const std::string& name : names_) {
    std::error_code error;
    const fs::path place = fs::path(folder) / name;
    if (name.find('/') != name.npos) fs::create_directories(place.parent_path(), error);
    fs::create_symlink(fs::path(from_) / name, place, error);
  }
}

bool Workspace::clean(const std::string& folder) {
  std::size_t links = 0;
  bool left = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const bool ours = entry.is_symlink(error);
    links += ours;
    left = left || !ours;
  }
  if (!left && links == names_.size()) return false;
  fs::remove_all(folder, error);
  fs::create_directory(folder, error);
  link(folder);
  return true;
}

}  // namespace psn::attach
