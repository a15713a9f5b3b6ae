// psn doctor: what this machine offers, and what is missing for which job.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "psn/services/machine.h"
#include "psn/version.h"

namespace psn::app {
namespace {

std::string or_none(const std::string& version) {
  return version.empty() ? "none" : version;
}

void print_machine(const services::Machine& machine) {
  fmt::print("psn      {}\n", PSN_VERSION);
  fmt::print("cpu      {}: {}\n", machine.cpu, fmt::join(machine.features, " "));
  fmt::print("cores    {}\n", machine.cores);
  fmt::print("memory   {:.1f} GiB\n", machine.memory_gib);
  fmt::print("oneDNN   {}\n", or_none(machine.onednn));
  fmt::print("MPI      {}\n", or_none(machine.mpi));
}

void print_machine_json(const services::Machine& machine) {
  const nlohmann::ordered_json json{
      {"version", PSN_VERSION},           {"cpu", machine.cpu},
      {"features", machine.features},     {"cores", machine.cores},
      {"memory_gib", machine.memory_gib}, {"onednn", or_none(machine.onednn)},
      {"mpi", or_none(machine.mpi)}};
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_doctor_command(CLI::App& program) {
  auto* command = program.add_subcommand("doctor", "what psn finds on this machine");
  auto common = std::make_shared<CommonOptions>();
  common->add_to(*command);
  command->callback([common] {
    const services::Machine machine = services::examine_machine();
    common->json ? print_machine_json(machine) : print_machine(machine);
  });
}

}  // namespace psn::app
