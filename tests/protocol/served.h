// Servers for tests, in their own process.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "psn/core/in_process.h"
#include "psn/ppx/server.h"

namespace psn::ppx {

// A model served from a thread of this process, at an endpoint that the system chooses.
class Served {
 public:
  explicit Served(Model model, ServerKeys keys = {}, const std::string& at = "tcp://127.0.0.1:*")
      : Served(std::make_unique<InProcess>(std::move(model)), std::move(keys), at) {}
  explicit Served(std::unique_ptr<Simulator> simulator, ServerKeys keys = {},
                  const std::string& at = "tcp://127.0.0.1:*")
      : simulator_(std::move(simulator)) {
    options_.endpoint = at;
    options_.keys = std::move(keys);
    options_.stop = &stop_;
    options_.ready = [this](const std::string& endpoint) {
      endpoint_ = endpoint;
      ready_.store(true);
      ready_.notify_all();
    };
    thread_ = std::thread([this] { serve(*simulator_, options_); });
    ready_.wait(false);
  }
  ~Served() {
    stop_.store(true);
    thread_.join();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  const std::string& endpoint() const { return endpoint_; }

 private:
  std::unique_ptr<Simulator> simulator_;
  ServeOptions options_;
  std::atomic<bool> stop_{false}, ready_{false};
  std::string endpoint_;
  std::thread thread_;
};

}  // namespace psn::ppx
