#include "psn/attach/launch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "psn/attach/wire.h"
#include "psn/base/error.h"

namespace psn::attach {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libpsn_preload.so";

// It lies beside the library that this is part of.
std::string preload_library() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(&make_memory_file), &info);
  std::error_code error;
  const fs::path folder = fs::canonical(info.dli_fname, error).parent_path();
  std::string path = (folder / kLibrary).string();
  if (!fs::exists(path)) throw DataError(fmt::format("'{}' is not there to be put in front", path));
  if (path.find_first_of(" :") != path.npos) {
    throw DataError(
        fmt::format("'{}' cannot be put in front: LD_PRELOAD takes no path with a "
                    "space or a colon",
                    path));
  }
  return path;
}

std::vector<std::string> environment_for(const Launch& what) {
  std::vector<std::string> variables;
  std::string preload = "LD_PRELOAD=" + preload_library();
  const std::string_view ours = wire::kVariable;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text(*variable);
    if (text.starts_with("LD_PRELOAD=")) {
      preload += fmt::format(":{}", text.substr(text.find('=') + 1));
    } else if (!(text.starts_with(ours) && text.substr(ours.size()).starts_with("="))) {
      variables.emplace_back(text);
    }
  }
  variables.push_back(std::move(preload));
  variables.push_back(fmt::format("{}={} {}", ours, what.socket, what.depth));
  return variables;
}

// Between fork and exec: only calls that are safe in the child of a program with threads.
[[noreturn]] void become_program(const Launch& what, char** environment, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before we asked
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(what.out, STDOUT_FILENO);
  ::dup2(what.err, STDERR_FILENO);
  // What this process happens to have open is nothing to it, and would keep it from being copied.
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::fcntl(what.socket, F_SETFD, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  char** argv = what.words.argv();
  if (::chdir(what.folder.c_str()) == 0) ::execvpe(argv[0], argv, environment);
  for (const char* part : {"cannot run ", static_cast<const char*>(argv[0]), ": ",
                           static_cast<const char*>(std::strerror(errno)), "\n"}) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  ::_exit(127);
}

}  // namespace

Child launch(ppx::ProcessStarter& starter, const Launch& what) {
  std::vector<std::string> variables = environment_for(what);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const pid_t parent = ::getpid();
  Child child;
  int error = 0;
  starter.call([&] {
    child.pid = ::fork();
    if (child.pid == 0) become_program(what, environment.data(), parent);
    error = errno;
    if (child.pid < 0) return;
    ::setpgid(child.pid, child.pid);  // the child does it too: whoever comes first
    child.end = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  });
  if (child.pid < 0) {
    throw DataError(
        fmt::format("cannot start '{}': {}", what.words.argv()[0], std::strerror(error)));
  }
  return child;
}

int finish(Child& child) {
  if (child.pid <= 0) return 0;
  ::kill(-child.pid, SIGKILL);
  ::kill(child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) continue;
  child = Child();
  return status;
}

Descriptor make_memory_file(const char* name) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (file.get() < 0) throw DataError(fmt::format("no file in memory: {}", std::strerror(errno)));
  return file;
}

void rewind(const Descriptor& file) {
  if (::ftruncate(file.get(), 0) == 0) ::lseek(file.get(), 0, SEEK_SET);
}

bool write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

std::size_t size_of(const Descriptor& file) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

std::string content(const Descriptor& file, std::size_t limit) {
  std::string text(std::min(limit, size_of(file)), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace psn::attach
