// What the preloaded library and the engine say to each other: packets over a local socket of kind
// SOCK_SEQPACKET, each a Head, `numbers` doubles and `text` bytes, and nothing else. Both sides run
// on one machine, so numbers are as it has them (docs/formats/attach.md).
//
// Nothing of psn's is included here: the library is loaded into other people's programs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace psn::attach::wire {

inline constexpr std::uint32_t kMagic = 0x314E5350;  // "PSN1"
inline constexpr std::size_t kMostNumbers = 4096;
inline constexpr std::size_t kMostText = 8192;

enum class Kind : std::uint32_t {
  // From the program.
  kReady = 1,   // before its first random choice; run: its process; text: why it cannot be forked,
                // else nothing
  kDraw = 2,    // code: the family; count: components; numbers: parameters; text: the address
  kRefuse = 3,  // text: why the run cannot go on
  kForked = 4,  // run; code: the process, or the negative error number; from a run: of its copy
  kEnded = 5,   // run; code: its status, as wait() tells it
  // From the engine.
  kFork = 16,    // run; text: its folder; with it come a socket, stdout and stderr
  kGo = 17,      // this process is itself the run
  kKill = 18,    // run
  kValues = 19,  // numbers: what was drawn
  kCopy = 20,    // to a run that waits for values: as kFork, but of the run itself
  kAdopt = 21,   // run; code: the process of a copy of a run, which is now a child of the server
};

struct Head {
  std::uint32_t magic = kMagic;
  Kind kind = Kind::kReady;
  std::uint64_t run = 0;
  std::int32_t code = 0;
  std::uint32_t count = 0;  // of kDraw: 0 is a scalar
  std::uint32_t numbers = 0;
  std::uint32_t text = 0;
};
static_assert(sizeof(Head) == 32);

inline constexpr std::size_t kMostBytes = sizeof(Head) + 8 * kMostNumbers + kMostText;

// Is a packet of so many bytes, which begin with this head, what it says?
inline bool well_formed(const Head& head, std::size_t bytes) {
  return head.magic == kMagic && head.numbers <= kMostNumbers && head.text <= kMostText &&
         head.count <= kMostNumbers &&
         bytes == sizeof(Head) + 8 * std::size_t{head.numbers} + head.text;
}

// Of the environment: "DESCRIPTOR DEPTH", the engine's socket and how much of the stack an address
// has.
inline constexpr const char* kVariable = "PSN_ATTACH";
// With a kFork.
inline constexpr int kDescriptors = 3;

}  // namespace psn::attach::wire
