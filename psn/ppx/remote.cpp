#include "psn/ppx/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "psn/base/error.h"
#include "psn/ppx/private_directory.h"
#include "psn/ppx/remote_ensemble.h"

namespace psn::ppx {
namespace {

constexpr std::string_view kExec = "exec:";
constexpr std::string_view kConnect = "ppx+";

// "ppx+tcp://a:1,b:2" is tcp://a:1 and tcp://b:2.
std::vector<std::string> endpoints_of(const std::string& argument) {
  const auto scheme_end = argument.find("://");
  const std::string scheme = argument.substr(kConnect.size(), scheme_end - kConnect.size());
  if (scheme_end == argument.npos || (scheme != "tcp" && scheme != "ipc")) {
    throw InvalidArgument(
        fmt::format("'{}': expected ppx+tcp://HOST:PORT or ppx+ipc:///PATH", argument));
  }
  std::vector<std::string> endpoints;
  const std::string prefix = argument.substr(0, scheme_end + 3);
  for (std::size_t at = prefix.size(); at <= argument.size();) {
    const auto comma = std::min(argument.find(',', at), argument.size());
    std::string part = argument.substr(at, comma - at);
    if (part.starts_with(prefix)) part.erase(0, prefix.size());
    if (part.empty() || part.find("://") != part.npos) {
      throw InvalidArgument(fmt::format("'{}': '{}' is no address of a simulator", argument, part));
    }
    endpoints.push_back(fmt::format("{}://{}", scheme, part));
    at = comma + 1;
  }
  return endpoints;
}

}  // namespace

bool is_remote(const std::string& argument) {
  return argument.starts_with(kExec) || argument.starts_with(kConnect);
}

struct RemoteSimulator::Pool {
  Pool(const std::string& argument, const RemoteOptions& remote_options)
      : options(remote_options), failures(options.max_failures) {
    if (argument.starts_with(kConnect)) {
      for (std::string& endpoint : endpoints_of(argument)) add(std::move(endpoint), false);
    } else {
      const std::string command = argument.substr(kExec.size());
      if (command.find(kEndpointPlace) == command.npos &&
          command.find(kPortPlace) == command.npos) {
        throw InvalidArgument(
            fmt::format("'{}': the command must contain {} or {}, where the simulator is to serve",
                        argument, kEndpointPlace, kPortPlace));
      }
      PrivateDirectory::remove_abandoned();
      for (std::size_t i = 0; i < std::max<std::size_t>(1, options.workers); ++i) {
        add(command, true);
      }
    }
    size = links.size();
    meet(argument);
  }

  ~Pool() {
    for (const auto& link : links) link->terminate();
  }

  void add(std::string peer, bool own) {
    links.push_back(std::make_unique<Link>(context, links.size(), std::move(peer), own));
  }

  std::unique_ptr<RemoteEnsemble> lend(std::size_t width) {
    const std::lock_guard lock(mutex);
    if (links.empty()) throw InvalidArgument("the remote simulators are in use already");
    return std::make_unique<RemoteEnsemble>(width, std::move(links), context, addresses, failures,
                                            [this](Links returned) {
                                              const std::lock_guard relock(mutex);
                                              links = std::move(returned);
                                            });
  }

  // Opens all links and waits for the first to answer: an ensemble without runs does just that.
  // What psn does not start itself must be there already.
  void meet(const std::string& argument) {
    const auto ensemble = lend(0);
    const auto deadline = argument.starts_with(kConnect)
                              ? Clock::now() + seconds(options.reach_limit)
                              : Clock::time_point::max();
    while (!ensemble->first_up()) {
      ensemble->advance();
      if (Clock::now() < deadline || ensemble->any_reached()) continue;
      throw ModelError(
          fmt::format("{}: nobody there within {} s; is the simulator running, and "
                      "are its keys, if it has any, the ones that it is asked for?",
                      argument, options.reach_limit));
    }
    name = ensemble->first_up()->greeting().model_name;
  }

  const RemoteOptions options;
  LinkContext context{zmq::context_t(1), {}, {}, options};
  FailureLog failures;
  AddressTable addresses{AddressTable::Names::kSeveral};
  std::string name;
  std::size_t size = 0;
  std::mutex mutex;
  Links links;  // those that no ensemble has
};

RemoteSimulator::RemoteSimulator(const std::string& argument, const RemoteOptions& options)
    : pool_(std::make_unique<Pool>(argument, options)) {}
RemoteSimulator::~RemoteSimulator() = default;

const std::string& RemoteSimulator::name() const {
  return pool_->name;
}
AddressTable& RemoteSimulator::addresses() {
  return pool_->addresses;
}
std::unique_ptr<Ensemble> RemoteSimulator::ensemble(std::size_t width) {
  return pool_->lend(width);
}
std::size_t RemoteSimulator::max_simulations() const {
  return pool_->size;
}
std::uint64_t RemoteSimulator::runs() const {
  return pool_->failures.begun();
}
Failures RemoteSimulator::failures() const {
  return pool_->failures.failures();
}
void RemoteSimulator::forget_failures() {
  pool_->failures.forget();
}

}  // namespace psn::ppx
