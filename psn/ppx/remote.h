// RemoteSimulator: simulators in other processes, in any language that speaks PPX, as a Simulator.
//
// A failed run (the simulator died, hung, sent garbage, NaN or a message out of turn) is told to
// the task and counted; the simulator is ended, or left alone if it is not ours, and begun anew
// after a pause that grows with each failure in a row. One that says itself that its run failed
// (Reset) is left as it is. Failures above a limit end the work with ModelError (FailureLog).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/ppx/security.h"

namespace psn::ppx {

struct RemoteOptions {
  std::size_t workers = 1;         // processes to start, for exec:
  std::uint64_t max_failures = 0;  // runs that may fail before the work is given up
  double start_limit = 60;         // seconds from a start to the handshake
  double reach_limit = 4;          // seconds until there is a peer at any address
  double message_limit = 3600;     // seconds from our message to the simulator's next; 0: none
  double run_limit = 0;            // seconds for a whole run; 0: none
  ClientKeys keys;
};

// Does the argument name a remote simulator?
bool is_remote(const std::string& argument);

class RemoteSimulator : public Simulator {
 public:
  // "ppx+tcp://host:port[,...]", "ppx+ipc:///path[,...]": simulators that run already.
  // "exec:COMMAND": starts `workers` of them; {endpoint} in the command becomes the address that
  // each is to serve at, or {port} a TCP port.
  // Waits until one of them answers; throws InvalidArgument for a malformed argument, ModelError if
  // none can be reached.
  RemoteSimulator(const std::string& argument, const RemoteOptions& options);
  ~RemoteSimulator() override;

  const std::string& name() const override;  // the model's, as the simulators call it
  AddressTable& addresses() override;
  // One at a time. Simulations beyond the number of simulators wait for one to be free.
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;
  std::size_t max_simulations() const override;
  std::size_t max_threads() const override { return 1; }  // one talks to all
  std::uint64_t runs() const override;
  Failures failures() const override;
  void forget_failures() override;

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace psn::ppx
