// PythonHost: a Python process as the host of services. The work is done by a thread of its own,
// without the GIL, while the one that called looks after it: tells of progress, and turns Ctrl-C,
// which Python knows of in its main thread alone, into a clean stop.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "psn/services/host.h"
#include "python/core/program.h"

namespace psn::python {

class PythonHost : public services::Host {
 public:
  // The Python functions that can be named; who is told of progress, as progress(label, traces,
  // total, text), with None as the label when a piece of work is over; may be None.
  PythonHost(const py::dict& programs, py::object progress);

  std::vector<Model> models() const override;
  void work_begins(const services::Work& work) override;
  void work_goes_on_from(std::uint64_t traces) override;
  void note(const std::string& text) override;
  void work_ends() override;

  // What `work` returns. Raises what it throws, with the traceback of the program's as the cause,
  // and KeyboardInterrupt, which says what is left.
  template <class Work>
  auto run(Work work) {
    std::optional<decltype(work())> result;
    const std::exception_ptr error = look_after([&] { result.emplace(work()); });
    if constexpr (requires { result->left; }) {
      if (!error && py::object(interruption_)) interrupted_with(result->left);
    }
    finish(error);
    return *std::move(result);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::exception_ptr look_after(const std::function<void()>& work);
  // With the GIL; false: something was raised.
  bool look();
  void show();
  void stop();
  void finish(const std::exception_ptr& error);
  void interrupted_with(const std::string& left);

  std::vector<std::unique_ptr<Program>> programs_;
  const py::object progress_;
  py::object interruption_;  // what was raised while the work went on; null: nothing
  std::optional<Clock::time_point> stopped_;
  mutable std::mutex mutex_;  // of what follows, which the work's thread writes
  std::string label_, note_;
  std::uint64_t total_ = 0, begun_with_ = 0;
  Clock::time_point begun_;
  bool at_work_ = false, shown_ = false;
};

}  // namespace psn::python
