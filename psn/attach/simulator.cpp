#include "psn/attach/simulator.h"

#include <mutex>
#include <thread>
#include <utility>

#include "psn/attach/attached_ensemble.h"
#include "psn/attach/runs.h"
#include "psn/base/error.h"

namespace psn::attach {

struct AttachedSimulator::Shared {
  Shared(const std::string& argument, AttachOptions given)
      : options(std::move(given)), name(argument), failures(options.max_failures) {
    runs = std::make_unique<Runs>(argument.substr(kPrefix.size()), options.settings,
                                  options.start_limit);
    runs->prepare();
    limits = runs->limits();
    modules = runs->modules();
  }

  const AttachOptions options;
  const std::string name;
  FailureLog failures;
  AddressTable addresses;
  std::string limits;
  std::map<std::string, std::string> modules;
  std::mutex mutex;
  std::unique_ptr<Runs> runs;  // unless an ensemble has them
};

AttachedSimulator::AttachedSimulator(const std::string& argument, AttachOptions options)
    : shared_(std::make_unique<Shared>(argument, std::move(options))) {}
AttachedSimulator::~AttachedSimulator() = default;

const std::string& AttachedSimulator::name() const {
  return shared_->name;
}
AddressTable& AttachedSimulator::addresses() {
  return shared_->addresses;
}
std::unique_ptr<Ensemble> AttachedSimulator::ensemble(std::size_t width) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->runs) throw InvalidArgument("the attached program is in use already");
  return std::make_unique<AttachedEnsemble>(width, std::move(shared_->runs), shared_->options,
                                            shared_->addresses, shared_->failures,
                                            [this](std::unique_ptr<Runs> returned) {
                                              const std::lock_guard relock(shared_->mutex);
                                              shared_->runs = std::move(returned);
                                            });
}
std::size_t AttachedSimulator::max_simulations() const {
  if (shared_->options.runs_at_once > 0) return shared_->options.runs_at_once;
  return 2 * std::max(1u, std::thread::hardware_concurrency());
}
std::uint64_t AttachedSimulator::runs() const {
  return shared_->failures.begun();
}
Failures AttachedSimulator::failures() const {
  return shared_->failures.failures();
}
void AttachedSimulator::forget_failures() {
  shared_->failures.forget();
}
const std::string& AttachedSimulator::limits() const {
  return shared_->limits;
}
const std::map<std::string, std::string>& AttachedSimulator::modules() const {
  return shared_->modules;
}
std::uint64_t AttachedSimulator::starts() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->runs ? shared_->runs->starts() : 0;
}

}  // namespace psn::attach
