// The errors that end an operation. Each message is one line that names the address, file, option
// or peer at fault; the command line prints it and exits with the code that its kind stands for.
#pragma once

#include <stdexcept>
#include <string>

namespace psn {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked for something that cannot be: a bad option, an unknown model or name.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

// The simulator did something that no probabilistic program may: a NaN parameter, an exception,
// a run without end.
class ModelError : public Error {
 public:
  using Error::Error;
};

// A peer broke the rules of its protocol.
class ProtocolError : public Error {
 public:
  using Error::Error;
};

// A file is damaged, of the wrong kind, or could not be read or written.
class DataError : public Error {
 public:
  using Error::Error;
};

// The user asked the operation to stop.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

}  // namespace psn
