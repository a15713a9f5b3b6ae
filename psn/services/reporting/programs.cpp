#include "psn/services/reporting/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/io/atomic_file.h"

namespace psn::services {

void run_program(const std::vector<std::string>& words, const std::string& output,
                 const std::string& needed_for) {
  const std::string errors = output + ".errors";
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), kNew, 0644);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), kNew, 0644);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    throw DataError(fmt::format("'{}' is needed for {} and cannot be run: {}", words[0], needed_for,
                                std::strerror(failed)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw DataError(fmt::format("'{}' failed: {}", words[0], one_line(read_file(errors), 300)));
}

}  // namespace psn::services
