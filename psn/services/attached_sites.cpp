#include "psn/services/attached_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>

#include "psn/attach/simulator.h"
#include "psn/base/text.h"
#include "psn/core/guide.h"
#include "psn/infer/importance.h"
#include "psn/services/source_lines.h"

namespace psn::services {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPrinted = 4000;
constexpr std::size_t kMostProposals = 5;

// Adds what one run drew.
void add_sites(const Trace& trace, std::vector<AttachedSite>& sites) {
  std::map<std::string, std::uint64_t> visits;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kSample) continue;
    const Site& site = *entry.address->variable->site;
    ++visits[site.text];
    const auto known = std::find_if(sites.begin(), sites.end(), [&](const AttachedSite& s) {
      return s.address == site.base && s.type == site.type;
    });
    if (known == sites.end()) sites.push_back({site.base, site.type, "", 0, 0});
  }
  for (AttachedSite& site : sites) {
    const auto found = visits.find(site.address + "__" + site.type);
    if (found == visits.end()) continue;
    ++site.runs;
    site.most = std::max(site.most, found->second);
  }
}

std::vector<std::string> written_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error) && !entry.is_symlink(error)) {
      files.push_back(entry.path().filename().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string toml_text(const std::string& text) {
  return text.find('\'') == text.npos ? "'" + text + "'" : fmt::format("{:?}", text);
}

// Sections for numbers that were printed with a word in front.
std::string proposals(const LearnResult& learned) {
  static const std::regex labelled(
      R"(^\s*([A-Za-z][A-Za-z0-9_]*)\s*[=:,]?\s+([-+.0-9][-+.0-9eE]*)\s*$)");
  std::string text;
  std::map<std::string, int> seen;
  std::istringstream lines(learned.printed);
  for (std::string line; std::getline(lines, line) && seen.size() < kMostProposals;) {
    std::smatch match;
    if (line.size() > 200 || !std::regex_match(line, match, labelled) || seen[match[1]]++ > 0) {
      continue;
    }
    text += fmt::format(
        "\n# [observe.{}]\n# from = \"stdout\"\n# pattern = '{}[=: ]+([-+.0-9eE]+)'\n"
        "# law = \"Normal\"\n# stddev = 1.0\n",
        match[1].str(), match[1].str());
  }
  for (const std::string& file : learned.files) {
    text += fmt::format(
        "\n# [observe.NAME]\n# from = {}\n# column = 1\n# list = true\n# law = \"Normal\"\n"
        "# stddev = 1.0\n",
        toml_text(file));
  }
  return text;
}

}  // namespace

LearnResult learn_attached(const LearnJob& job, Host& host) {
  LearnResult result;
  std::mutex mutex;
  attach::AttachOptions options{.max_failures = job.runs,
                                .start_limit = job.remote.start_limit.value_or(60),
                                .message_limit = job.time_limit,
                                .run_limit = job.remote.run_limit};
  options.settings.depth = job.depth;
  bool first = true;
  options.ended = [&](const attach::Leavings& run) {
    if (!std::exchange(first, false)) return;
    result.printed = run.printed.substr(0, kMostPrinted);
    result.files = written_in(run.folder);
  };
  attach::AttachedSimulator simulator(std::string(attach::kPrefix) + job.command,
                                      std::move(options));
  RunOptions run{.seed = job.seed, .monitor = &host.monitor()};
  run.failed = [](std::uint64_t) {};  // the result has them
  run_traces(simulator, job.runs, prior_guide(),
             [&](std::uint64_t, Trace& trace) {
               const std::lock_guard lock(mutex);
               ++result.runs;
               add_sites(trace, result.sites);
             },
             run, {.width = 1, .threads = 1});
  for (AttachedSite& site : result.sites) {
    site.place = source_line(site.address, simulator.modules());
  }
  result.started_anew = simulator.limits();
  result.failures = simulator.failures();
  return result;
}

std::string settings_text(const LearnJob& job, const LearnResult& learned) {
  std::string text = fmt::format(
      "# attach:{}\n# {} runs, {} sites; {}\n# Give names to what you care for, and delete the "
      "rest: it goes by its address.\n\n[program]\ndepth = {}\n",
      job.command, learned.runs, learned.sites.size(),
      learned.started_anew.empty()
          ? "runs are copies of one process"
          : "the program is started anew for each run: " + learned.started_anew,
      job.depth);
  int number = 0;
  for (const AttachedSite& site : learned.sites) {
    text += fmt::format("\n# {}{}{}; in {} of {} runs, at most {} times\n[site.site{}]\nat = {}\n",
                        site.type, site.place.empty() ? "" : ", ", site.place, site.runs,
                        learned.runs, site.most, ++number, toml_text(site.address));
    if (site.most > 1) text += "list = true\n";
    text += "control = true\n";
  }
  text += "\n# What a run printed begins with:\n";
  std::istringstream lines(learned.printed);
  int shown = 0;
  for (std::string line; std::getline(lines, line) && shown < 10; ++shown) {
    text += "#   " + one_line(line.substr(0, 120)) + "\n";
  }
  for (const std::string& file : learned.files) text += "# It wrote " + one_line(file) + "\n";
  return text + proposals(learned);
}

}  // namespace psn::services
