// Configurations (TOML, a key an option), compared.
#pragma once

#include <map>
#include <string>

namespace psn::services {

// The options of a configuration that decide what comes out, with their values as TOML has them;
// not those that say where results go, and how long things may take. Throws DataError for what is
// no TOML.
std::map<std::string, std::string> deciding_options(const std::string& config);

// Throws InvalidArgument, naming the option, if what was begun with one configuration cannot go on
// with the other. `file` is what was begun.
void expect_same_options(const std::string& file, const std::string& begun_with,
                         const std::string& now);

}  // namespace psn::services
