#include "psn/services/build_facts.h"

#include <fmt/format.h>
#include <hwy/base.h>
#include <hwy/targets.h>
#include <lmdb.h>
#include <oneapi/dnnl/dnnl_version.h>
#include <toml++/toml.h>
#include <zmq.h>

#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include "psn/version.h"
#include "psn_commit.h"

namespace psn::services {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::vector<std::string> vector_extensions() {
  std::vector<std::string> names;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    names.emplace_back(hwy::TargetName(rest & -rest));
  }
  return names;
}

std::string dots(int major, int minor, int patch) {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace

BuildFacts build_facts() {
  return {
      .version = PSN_VERSION,
      .commit = PSN_COMMIT,
      .compiler = compiler(),
      .build_type = PSN_BUILD_TYPE,
      .vector_extensions = vector_extensions(),
      .libraries = {
          {"oneDNN", dots(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH)},
          {"Highway", PSN_HIGHWAY_VERSION},
          {"ZeroMQ", dots(ZMQ_VERSION_MAJOR, ZMQ_VERSION_MINOR, ZMQ_VERSION_PATCH)},
          {"LMDB", dots(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)},
          {"Boost", dots(BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)},
          {"fmt", dots(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"nlohmann-json", dots(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                 NLOHMANN_JSON_VERSION_PATCH)},
          {"toml++", dots(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)}}};
}

}  // namespace psn::services
