#include "apps/psn/output/page_output.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>

#include "psn/services/report.h"

namespace psn::app {

void leave_page(const std::string& directory, const PageOptions& options) {
  if (directory.empty()) return;
  const std::string page = directory + "/" + services::kReportFile;
  try {
    services::write_report(services::report_on_results({directory}), page);
  } catch (const std::exception& error) {
    fmt::print(stderr, "psn: warning: no report: {}\n", error.what());
    return;
  }
  if (!options.quiet) fmt::print(stderr, "report: {}\n", page);
  if (options.open) open_page(page);
}

void open_page(const std::string& file) {
  const bool screen = std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY");
  std::string program = "xdg-open", name = file;
  std::array<char*, 3> words{program.data(), name.data(), nullptr};
  pid_t child = 0;
  if (!screen || ::posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ) != 0) {
    fmt::print(stderr, "psn: no browser here to open {} with\n", file);
  }
}

}  // namespace psn::app
