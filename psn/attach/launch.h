// Starting the program, with the library in front.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "psn/io/descriptor.h"
#include "psn/ppx/command_words.h"
#include "psn/ppx/process.h"

namespace psn::attach {

struct Launch {
  const ppx::CommandWords& words;
  int depth;
  int socket;  // the program's end
  int out, err;
  const std::string& folder;
};

// A process that leads a group of its own and ends with this one.
struct Child {
  pid_t pid = -1;
  Descriptor end;  // becomes readable when it has ended
};

// Throws DataError if no process can be made, or if there is no library to put in front.
Child launch(ppx::ProcessStarter& starter, const Launch& what);

// Kills its whole group and takes its status.
int finish(Child& child);

// Of what a run prints, so much is kept.
inline constexpr std::size_t kMostPrinted = std::size_t{1} << 26;

// What a process can write to, in memory.
Descriptor make_memory_file(const char* name);
// Empties it for the next one.
void rewind(const Descriptor& file);
std::size_t size_of(const Descriptor& file);
bool write_all(const Descriptor& file, std::string_view text);
// Its beginning, up to so many bytes.
std::string content(const Descriptor& file, std::size_t limit);

}  // namespace psn::attach
