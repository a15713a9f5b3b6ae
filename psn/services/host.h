// Host: the program that asks for something, as a service sees it: the models it brings along, the
// processes that work together, who hears how far the work is, and who may ask it to stop.
//
// This class itself is silent, brings no models, and is one process alone. One service at a time
// runs under a host; monitor() may be used by any thread meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "psn/base/error.h"
#include "psn/core/model.h"
#include "psn/core/run.h"
#include "psn/ranks/communicator.h"

namespace psn::services {

// A piece of work that begins.
struct Work {
  std::string label;        // what it is about: a model, a store
  std::uint64_t total = 0;  // traces; 0: not known
  // Puts into safety what there is of it, and says where, to end a message with:
  // "; 's.checkpoint.psn' holds ...". Null: nothing can be. Any thread may call it.
  std::function<std::string()> rescue;
};

class Host {
 public:
  Host() : Host(own_) {}
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Those that can be named without a file.
  virtual std::vector<Model> models() const { return {}; }
  virtual Communicator& ranks() { return alone_; }

  virtual void work_begins(const Work&) {}
  // So many traces were there before it began; they are no part of its speed.
  virtual void work_goes_on_from(std::uint64_t traces) { monitor().traces.store(traces); }
  // A figure of the work so far, such as a loss.
  virtual void note(const std::string&) {}
  // Now and then, by the thread that works; monitor().traces says how far it is.
  virtual void work_advances() {}
  virtual void work_ends() {}

  // Counts traces. To set its `stop` ends the work with Interrupted.
  Monitor& monitor() { return monitor_; }
  const Monitor& monitor() const { return monitor_; }

 protected:
  // With the monitor of work that this is a part of.
  explicit Host(Monitor& monitor) : monitor_(monitor) {}

 private:
  Communicator alone_;
  Monitor own_;
  Monitor& monitor_;
};

// Work that begins and ends with this object.
class WorkScope {
 public:
  WorkScope(Host& host, const Work& work) : host_(host) { host_.work_begins(work); }
  ~WorkScope() { host_.work_ends(); }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  Host& host_;
};

// Stopped, with what is left of the work: "interrupted; 's.checkpoint.psn' holds ...".
class InterruptedWork : public Interrupted {
 public:
  explicit InterruptedWork(const std::string& left) : text_("interrupted" + left) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace psn::services
