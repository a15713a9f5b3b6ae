#include "apps/psn/output/version_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "psn/services/build_facts.h"

namespace psn::app {

std::string version_text() {
  const services::BuildFacts facts = services::build_facts();
  std::vector<std::string> libraries;
  for (const auto& [name, version] : facts.libraries) libraries.push_back(name + " " + version);
  return fmt::format(
      "psn {}\n{}compiler    {}\nbuild       {}\nvectors     {}\nlibraries   {}", facts.version,
      facts.commit.empty() ? "" : fmt::format("commit      {}\n", facts.commit), facts.compiler,
      facts.build_type, fmt::join(facts.vector_extensions, " "), fmt::join(libraries, ", "));
}

}  // namespace psn::app
