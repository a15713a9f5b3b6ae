#include "psn/services/serve.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "psn/io/atomic_file.h"
#include "psn/services/simulators.h"

namespace psn::services {

void serve(const ServiceJob& job, Host& host) {
  const auto simulator = open_simulator(
      job.model, {.stack_kib = job.stack_kib, .remote = {.attach = job.attach}}, 0, host);
  const WorkScope work(host, {.label = job.model});
  ppx::ServeOptions options;
  options.endpoint = job.endpoint;
  options.seed = job.seed;
  options.withhold_data = job.withhold_data;
  options.stop = &host.monitor().stop;
  if (!job.curve_keys.empty()) {
    const auto pair = read_keys(job.curve_keys, 2);
    options.keys.own = {pair[0], pair[1]};
  }
  for (const std::string& path : job.curve_allow) {
    options.keys.clients.push_back(read_keys(path, 1)[0]);
  }
  if (job.ready) {
    options.ready = [&](const std::string& endpoint) { job.ready(simulator->name(), endpoint); };
  }
  options.log = job.log;
  ppx::serve(*simulator, options);
}

void make_keys(const std::string& path) {
  const ppx::KeyPair pair = ppx::make_key_pair();
  const mode_t before = ::umask(0077);
  write_file_atomically(path, fmt::format("{}\n{}\n", pair.public_key, pair.secret_key));
  write_file_atomically(path + ".pub", pair.public_key + "\n");
  ::umask(before);
}

}  // namespace psn::services
