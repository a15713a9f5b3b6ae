// The Communicator for MPI: a library of its own, loaded by started_ranks().
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "psn/ranks/communicator.h"

namespace psn {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // counts of MPI are ints

int as_int(std::size_t n) {
  return static_cast<int>(n);
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    int provided = 0, rank = 0, size = 1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<std::uint32_t>(rank);
    size_ = static_cast<std::uint32_t>(size);
  }
  ~MpiCommunicator() override { MPI_Finalize(); }

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }

  void sum(std::span<float> x) override { reduce(x, MPI_FLOAT, MPI_SUM); }
  void sum(std::span<double> x) override { reduce(x, MPI_DOUBLE, MPI_SUM); }
  void any(std::span<std::uint64_t> x) override { reduce(x, MPI_UINT64_T, MPI_BOR); }

  std::vector<std::string> all_gather(std::string own) override {
    // Most messages are short, and go with their size.
    struct Envelope {
      std::uint64_t size;
      char bytes[56];
    };
    Envelope sent{own.size(), {}};
    std::copy_n(own.data(), std::min(own.size(), sizeof sent.bytes), sent.bytes);
    std::vector<Envelope> received(size_);
    MPI_Allgather(&sent, sizeof sent, MPI_BYTE, received.data(), sizeof sent, MPI_BYTE,
                  MPI_COMM_WORLD);
    std::vector<std::string> all(size_);
    std::vector<std::uint64_t> sizes;
    for (const Envelope& envelope : received) sizes.push_back(envelope.size);
    if (*std::max_element(sizes.begin(), sizes.end()) <= sizeof sent.bytes) {
      for (std::uint32_t from = 0; from < size_; ++from) {
        all[from].assign(received[from].bytes, sizes[from]);
      }
      return all;
    }
    const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    if (total < kMostAtOnce) return gather_at_once(own, sizes, total);
    all[rank_] = std::move(own);
    for (std::uint32_t from = 0; from < size_; ++from) {
      all[from].resize(sizes[from]);
      send_from(from, all[from]);
    }
    return all;
  }

  std::vector<std::string> gather(std::string own) override {
    std::vector<std::uint64_t> sizes(size_);
    const std::uint64_t own_size = own.size();
    MPI_Gather(&own_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (!leads()) {
      in_pieces(own,
                [](char* data, int size) { MPI_Send(data, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD); });
      return {};
    }
    std::vector<std::string> all{std::move(own)};
    for (std::uint32_t from = 1; from < size_; ++from) {
      in_pieces(all.emplace_back(sizes[from], '\0'), [&](char* data, int size) {
        MPI_Recv(data, size, MPI_BYTE, as_int(from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      });
    }
    return all;
  }

  void broadcast(std::string& bytes) override {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes.resize(size);
    send_from(0, bytes);
  }

  void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    Communicator::abort(exit_code);
  }

 private:
  template <class T>
  static void reduce(std::span<T> x, MPI_Datatype type, MPI_Op operation) {
    for (; !x.empty(); x = x.subspan(std::min(x.size(), kMostAtOnce))) {
      MPI_Allreduce(MPI_IN_PLACE, x.data(), as_int(std::min(x.size(), kMostAtOnce)), type,
                    operation, MPI_COMM_WORLD);
    }
  }

  std::vector<std::string> gather_at_once(const std::string& own,
                                          const std::vector<std::uint64_t>& sizes,
                                          std::size_t total) const {
    std::vector<int> counts(sizes.begin(), sizes.end()), places(size_);
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    std::string joined(total, '\0');
    MPI_Allgatherv(own.data(), as_int(own.size()), MPI_BYTE, joined.data(), counts.data(),
                   places.data(), MPI_BYTE, MPI_COMM_WORLD);
    std::vector<std::string> all;
    for (std::uint32_t from = 0; from < size_; ++from) {
      all.push_back(joined.substr(static_cast<std::size_t>(places[from]), sizes[from]));
    }
    return all;
  }

  // Calls f(data, size) for each piece.
  template <class F>
  static void in_pieces(std::string& bytes, F f) {
    for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce) {
      f(bytes.data() + at, as_int(std::min(kMostAtOnce, bytes.size() - at)));
    }
  }
  static void send_from(std::uint32_t rank, std::string& bytes) {
    in_pieces(bytes, [&](char* data, int size) {
      MPI_Bcast(data, size, MPI_BYTE, as_int(rank), MPI_COMM_WORLD);
    });
  }

  std::uint32_t rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace psn

extern "C" psn::Communicator* psn_start_mpi() {
  return new psn::MpiCommunicator();
}
