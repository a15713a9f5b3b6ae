// What the exit code of psn says; `psn --help` lists them.
#pragma once

namespace psn::app {

enum ExitCode : int {
  kSuccess = 0,
  kWarnings = 1,      // psn diagnose found something
  kUsage = 64,        // the command line, an option or a name was wrong
  kBadData = 65,      // a file was damaged, or could not be read or written
  kModelFailed = 70,  // the simulator failed: an exception, NaN, no end
  kProtocol = 76,     // a remote simulator broke the protocol
  kInternal = 71,     // an error that psn did not expect
  kInterrupted = 130,
};

}  // namespace psn::app
