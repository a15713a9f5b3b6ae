#include "apps/psn/options/remote_arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/psn/options/options.h"
#include "apps/psn/ranks.h"
#include "psn/base/atomic_file.h"
#include "psn/base/error.h"

namespace psn::app {

void RemoteArguments::add_to(CLI::App& command) {
  command.add_option("--workers", workers, "simulator processes to start, for exec:")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command
      .add_option("--max-failures", max_failures,
                  "share of the runs that may fail (a program that throws, a remote simulator that "
                  "dies, hangs, talks nonsense) before the work is given up")
      ->capture_default_str()
      ->check(finite_between(0, 1));
  command
      .add_option("--run-time-limit", run_limit,
                  "seconds that a run of a remote simulator may take; 0: any")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  command
      .add_option("--start-time-limit", start_limit,
                  "seconds that a remote simulator may take to start (60), or to be there (4)")
      ->check(finite_between(0.01, 1e9));
  command.add_option("--curve-server", curve_server,
                     "file with the remote simulator's public key: encrypts the connection");
  command.add_option("--curve-keys", curve_keys, "file with our own keys (psn keys)");
}

ppx::RemoteOptions RemoteArguments::options(std::uint64_t runs, double message_limit) const {
  ppx::RemoteOptions options{.workers = workers,
                             .max_failures = static_cast<std::uint64_t>(
                                 std::floor(max_failures * static_cast<double>(runs))),
                             .message_limit = message_limit,
                             .run_limit = run_limit};
  if (start_limit) options.start_limit = options.reach_limit = *start_limit;
  if (!curve_server.empty()) options.keys.server_key = read_keys(curve_server, 1)[0];
  if (!curve_keys.empty()) {
    const auto pair = read_keys(curve_keys, 2);
    options.keys.own = {pair[0], pair[1]};
  }
  return options;
}

std::vector<std::string> read_keys(const std::string& path, std::size_t count) {
  std::istringstream in(read_file(path, 1 << 20));
  std::vector<std::string> keys;
  for (std::string key; in >> key;) keys.push_back(key);
  for (const std::string& key : keys) {
    if (key.size() != 40) throw DataError(fmt::format("'{}': a key has 40 characters", path));
  }
  if (keys.size() != count) {
    throw DataError(fmt::format("'{}' holds {} keys, not {}", path, keys.size(), count));
  }
  return keys;
}

void report_failures(const Simulator& simulator, nlohmann::ordered_json& result, bool quiet,
                     const Failures& earlier) {
  Failures failures = joined(simulator.failures());
  failures.runs += earlier.runs;
  for (const auto& [cause, count] : earlier.by_cause) failures.by_cause[cause] += count;
  if (failures.last.empty()) failures.last = earlier.last;
  if (failures.runs == 0) return;
  result["failed_runs"] = {
      {"count", failures.runs}, {"causes", failures.by_cause}, {"last", failures.last}};
  if (quiet || !ranks().leads()) return;
  fmt::print(
      stderr,
      "psn: warning: {} runs failed ({}) and are left out, which biases the result if failing has "
      "to do with the variables; the last: {}\n",
      failures.runs, failures.causes(), failures.last);
}

}  // namespace psn::app
