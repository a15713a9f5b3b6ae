#include "psn/ppx/server.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <optional>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/core/in_process.h"
#include "psn/ppx/codec.h"
#include "psn/ppx/gatekeeper.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {
namespace {

constexpr Slot kSlot = 0;

// An address as PPX sends it: without type and instance, which the engine adds.
std::string bare_address(const Address& address) {
  const Variable& variable = *address.variable;
  return variable.text.substr(0, variable.text.size() - variable.site->type.size() - 2);
}

Value shaped(const Value& value, const Shape& shape) {
  if (value.shape() == shape) return value;
  return {{value.begin(), value.end()}, shape};
}

// An observation whose log density is the factor's: exactly if it is not positive.
Observe factor_as_observation(const Address& address, double log_weight) {
  Observe message{bare_address(address), address.name(), std::nullopt, {}};
  if (log_weight <= 0) {
    message.distribution = Exponential(1.0);
    message.value = -log_weight;
  } else {
    message.distribution = Exponential(std::exp(log_weight));
    message.value = 0.0;
  }
  return message;
}

class Server {
 public:
  Server(Simulator& simulator, const ServeOptions& options)
      : simulator_(simulator), options_(options) {}

  // The reply to a message; what goes wrong in a run ends it with a Reset.
  Message reply(std::span<const std::byte> bytes) {
    try {
      return std::visit([this](const auto& message) { return answer(message); }, decode(bytes));
    } catch (const Error& error) {
      return reset(error.what());
    }
  }

  Message reset(const std::string& why) {
    if (options_.log) options_.log(why);
    pending_.reset();
    ensemble_.reset();  // whatever state it is in
    return Reset{};
  }

 private:
  Message answer(const Handshake&) {
    abandon();
    return HandshakeResult{system_name(), simulator_.name()};
  }

  Message answer(const Run&) {
    abandon();
    if (!ensemble_) ensemble_ = simulator_.ensemble(1);
    ensemble_->start(kSlot, {runs_}, Rng(options_.seed, runs_));
    ++runs_;
    return next_request();
  }

  Message answer(const SampleResult& message) {
    expect(Role::kSample, message);
    const Distribution& distribution = *pending_->distribution;
    if (message.result.size() != distribution.size()) {
      throw ProtocolError(fmt::format("{} for {}", message.result.text(), distribution.text()));
    }
    ensemble_->answer(kSlot, shaped(message.result, distribution.shape()));
    return next_request();
  }

  Message answer(const ObserveResult& message) {
    if (pending_ && pending_->role == Role::kFactor) return go_on();
    expect(Role::kObserve, message);
    const Shape shape =
        pending_->distribution ? pending_->distribution->shape() : message.value.shape();
    const std::size_t size = element_count(shape);
    if (message.value.size() == size) {
      ensemble_->answer(kSlot, shaped(message.value, shape));
    } else if (pending_->value && !pending_->value->empty()) {
      ensemble_->answer(kSlot, *pending_->value);
    } else {
      ensemble_->answer(kSlot, Value(std::vector<double>(size, kNaN), shape));
    }
    return next_request();
  }

  Message answer(const TagResult& message) {
    expect(Role::kTag, message);
    return go_on();
  }

  template <class Other>
  Message answer(const Other& message) {
    throw ProtocolError(fmt::format("the engine sent {}", message_name(message)));
  }

  Message go_on() {
    ensemble_->answer(kSlot, {});
    return next_request();
  }

  template <class M>
  void expect(Role role, const M& message) const {
    if (pending_ && pending_->role == role) return;
    throw ProtocolError(fmt::format("the engine sent {} when asked for {}", message_name(message),
                                    pending_ ? role_name(pending_->role) : "nothing"));
  }

  Message next_request() {
    pending_.reset();
    std::span<const Pending> requests;
    while (requests.empty()) requests = ensemble_->advance();
    pending_ = requests.front();
    const Pending& request = *pending_;
    if (request.distribution && !request.distribution->valid()) {
      throw ModelError(
          fmt::format("address '{}': {}", request.address->text, *request.distribution->problem()));
    }
    switch (request.role) {
      case Role::kSample:
        return Sample{bare_address(*request.address), request.address->name(),
                      *request.distribution, request.control};
      case Role::kObserve:
        return Observe{bare_address(*request.address), request.address->name(),
                       request.distribution ? std::optional(*request.distribution) : std::nullopt,
                       request.value ? *request.value : Value()};
      case Role::kTag:
        return Tag{bare_address(*request.address), request.address->name(), *request.value};
      case Role::kFactor:
        return factor_as_observation(*request.address, request.value->scalar());
      case Role::kFinish:
        break;
      case Role::kFail:
        throw ModelError("the simulator did not finish the run");
    }
    Message result = RunResult{*request.value};
    pending_.reset();
    return result;
  }

  // Leaves a run that is under way where it is.
  void abandon() {
    if (pending_) ensemble_.reset();
    pending_.reset();
  }

  Simulator& simulator_;
  const ServeOptions& options_;
  std::unique_ptr<Ensemble> ensemble_;
  std::optional<Pending> pending_;  // what the engine has been asked
  std::uint64_t runs_ = 0;
};

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested{false};  // NOLINT(*-avoid-non-const-global-variables)

void request_stop(int) {
  stop_requested.store(true);
}

}  // namespace

void serve(Simulator& simulator, const ServeOptions& options) {
  zmq::context_t context(1);
  const Gatekeeper gatekeeper(context, options.keys.clients);
  zmq::socket_t socket(context, zmq::socket_type::rep);
  configure_server(socket, options.keys);
  bind(socket, options.endpoint);
  if (options.ready) options.ready(socket.get(zmq::sockopt::last_endpoint));

  Server server(simulator, options);
  Encoder encoder(ScalarShape::kNone);
  zmq::message_t message;
  while (!options.stop || !options.stop->load()) {
    if (!receive(socket, message)) continue;
    Message reply = server.reply({static_cast<const std::byte*>(message.data()), message.size()});
    std::span<const std::byte> bytes;
    try {
      bytes = encoder.encode(reply);
    } catch (const Error& error) {  // a distribution that PPX lacks
      bytes = encoder.encode(server.reset(error.what()));
    }
    socket.send(zmq::const_buffer(bytes.data(), bytes.size()), zmq::send_flags::none);
  }
}

int serve_main(Model model, int argc, char** argv) {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  try {
    InProcess simulator(std::move(model));
    ServeOptions options;
    if (argc > 1) options.endpoint = argv[1];
    options.stop = &stop_requested;
    options.log = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
    serve(simulator, options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace psn::ppx
