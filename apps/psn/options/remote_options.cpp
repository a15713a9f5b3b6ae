#include "apps/psn/options/remote_options.h"

#include "apps/psn/options/options.h"

namespace psn::app {

void add_remote_options(CLI::App& command, services::RemoteSettings& remote) {
  command
      .add_option(
          "--workers", remote.workers,
          "simulator processes to start, for exec:; for attach:, runs at once (by itself two a "
          "core)")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command.add_option("--attach", remote.attach,
                     "TOML file about the program of attach:COMMAND: names of its choices, what of "
                     "its output is observed (psn attach --learn begins one)");
  command
      .add_option("--max-failures", remote.max_failures,
                  "share of the runs that may fail (a program that throws, a remote simulator that "
                  "dies, hangs, talks nonsense) before the work is given up")
      ->capture_default_str()
      ->check(finite_between(0, 1));
  command
      .add_option("--run-time-limit", remote.run_limit,
                  "seconds that a run of a remote simulator may take; 0: any")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  command
      .add_option("--start-time-limit", remote.start_limit,
                  "seconds that a remote simulator may take to start (60), or to be there (4)")
      ->check(finite_between(0.01, 1e9));
  command.add_option("--curve-server", remote.curve_server,
                     "file with the remote simulator's public key: encrypts the connection");
  command.add_option("--curve-keys", remote.curve_keys, "file with our own keys (psn keys)");
}

}  // namespace psn::app
