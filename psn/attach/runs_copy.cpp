// Copies of runs under way.
#include <poll.h>

#include <array>
#include <filesystem>

#include "psn/attach/runs.h"

namespace psn::attach {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMilliseconds = 5000;

// What a run has written so far; links to what it may read are there.
bool copy_files(const std::string& from, const std::string& to) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (entry.is_symlink(error)) continue;
    fs::copy(entry.path(), fs::path(to) / entry.path().filename(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks |
                 fs::copy_options::overwrite_existing,
             error);
    if (error) return false;
  }
  return !error;
}

}  // namespace

std::optional<std::uint64_t> Runs::copy(std::uint64_t run) {
  Seat* original = seat_of(run);
  if (!limits_.empty() || !original || !original->asks) return std::nullopt;
  Seat& copy = take_seat();
  rewind(copy.err);
  rewind(copy.out);
  SocketPair sockets = make_sockets();
  copy.run = next_run_++;
  copy.state = Seat::State::kEnding;  // not free
  if (!write_all(copy.out, content(original->out, kMostPrinted)) ||
      !copy_files(original->folder, copy.folder) ||
      !ask_for_copy(*original, copy, sockets.theirs.get())) {
    workspace_.clean(copy.folder);
    copy.state = Seat::State::kFree;
    return std::nullopt;
  }
  copy.socket = std::move(sockets.ours);
  copy.state = Seat::State::kRunning;
  copy.asks = true;
  return copy.run;
}

bool Runs::ask_for_copy(Seat& original, const Seat& copy, int socket) {
  wire::Head head;
  head.kind = wire::Kind::kCopy;
  head.run = copy.run;
  const std::array<int, wire::kDescriptors> given{socket, copy.out.get(), copy.err.get()};
  if (!send(original.socket.get(), head, {}, copy.folder, given)) return false;
  pollfd answer{original.socket.get(), POLLIN, 0};
  bool open = true;
  if (::poll(&answer, 1, kPatienceMilliseconds) <= 0) return false;
  const auto packet = receive(original.socket.get(), open);
  if (!packet || packet->head.kind != wire::Kind::kForked || packet->head.code <= 0) return false;
  head.kind = wire::Kind::kAdopt;
  head.code = packet->head.code;
  return send(control_.get(), head, {}, "");
}

}  // namespace psn::attach
