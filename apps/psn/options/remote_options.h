// Options for simulators in other processes.
#pragma once

#include <CLI/CLI.hpp>

#include "psn/services/simulators.h"

namespace psn::app {

void add_remote_options(CLI::App& command, services::RemoteSettings& remote);

}  // namespace psn::app
