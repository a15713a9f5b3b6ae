// Ranks that are threads of one process.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "psn/ranks/communicator.h"

namespace psn::test {

// What one rank hands to the others; the next may begin when all have taken it.
class Table {
 public:
  explicit Table(std::uint32_t ranks) : ranks_(ranks), bytes_(ranks) {}

  std::vector<std::string> exchange(std::uint32_t rank, std::string own) {
    bytes_[rank] = std::move(own);
    wait();
    std::vector<std::string> all = bytes_;
    wait();
    return all;
  }
  // The others would wait for ever.
  void give_up() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    arrived_.notify_all();
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    if (++waiting_ == ranks_) {
      waiting_ = 0;
      ++round_;
      arrived_.notify_all();
      return;
    }
    arrived_.wait(lock, [&] { return round_ != round || broken_; });
    if (round_ == round) throw std::runtime_error("another rank gave up");
  }

  std::uint32_t ranks_, waiting_ = 0;
  std::uint64_t round_ = 0;
  bool broken_ = false;
  std::vector<std::string> bytes_;
  std::mutex mutex_;
  std::condition_variable arrived_;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::uint32_t rank, std::uint32_t size, Table& table)
      : rank_(rank), size_(size), table_(table) {}

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  void sum(std::span<float> x) override { reduce(x, std::plus<>()); }
  void sum(std::span<double> x) override { reduce(x, std::plus<>()); }
  void any(std::span<std::uint64_t> x) override { reduce(x, std::bit_or<>()); }
  std::vector<std::string> all_gather(std::string own) override {
    sent += own.size();
    return table_.exchange(rank_, std::move(own));
  }
  void broadcast(std::string& bytes) override { bytes = all_gather(bytes).front(); }

  std::uint64_t sent = 0;  // bytes of all_gather()

 private:
  template <class T, class Operation>
  void reduce(std::span<T> x, Operation operation) {
    const auto* bytes = reinterpret_cast<const char*>(x.data());
    const auto all = table_.exchange(rank_, std::string(bytes, x.size_bytes()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::uint32_t rank = 0; rank < size_; ++rank) {
        const T y = reinterpret_cast<const T*>(all[rank].data())[i];
        x[i] = rank == 0 ? y : operation(x[i], y);
      }
    }
  }

  std::uint32_t rank_, size_;
  Table& table_;
};

// Calls work(ranks) on as many threads; rethrows what the first of them threw, by rank.
inline void on_ranks(std::uint32_t count, const std::function<void(ThreadCommunicator&)>& work) {
  Table table(count);
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadCommunicator communicator(rank, count, table);
        try {
          work(communicator);
        } catch (...) {
          errors[rank] = std::current_exception();
          table.give_up();
        }
      });
    }
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace psn::test
