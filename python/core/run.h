// The run of a Python program that is under way on this thread.
#pragma once

#include <pybind11/pybind11.h>

#include "psn/core/context.h"

namespace psn::python {

struct Run {
  Context& context;
  bool abandoned = false;  // it is to end, and gets no more answers
};

// Null: none.
Run* current_run();
void set_current_run(Run* run);

// Throws ModelError, with the name of the function that was called, if there is none.
Run& require_run(const char* what);

// The engine's time: without the GIL, and with other runs on this thread.
class EnginesTurn {
 public:
  explicit EnginesTurn(Run& run) : run_(run), state_(PyEval_SaveThread()) {
    set_current_run(nullptr);
  }
  ~EnginesTurn() {
    PyEval_RestoreThread(state_);
    set_current_run(&run_);
  }
  EnginesTurn(const EnginesTurn&) = delete;
  EnginesTurn& operator=(const EnginesTurn&) = delete;

 private:
  friend class ProgramsTurn;
  Run& run_;
  PyThreadState* state_;
};

// Python's again, in the middle of the engine's time.
class ProgramsTurn {
 public:
  explicit ProgramsTurn(EnginesTurn& turn) : turn_(turn) {
    PyEval_RestoreThread(turn_.state_);
    set_current_run(&turn_.run_);
  }
  ~ProgramsTurn() {
    set_current_run(nullptr);
    turn_.state_ = PyEval_SaveThread();
  }
  ProgramsTurn(const ProgramsTurn&) = delete;
  ProgramsTurn& operator=(const ProgramsTurn&) = delete;

 private:
  EnginesTurn& turn_;
};

}  // namespace psn::python
