#include "psn/ppx/command_words.h"

#include <fmt/format.h>

#include "psn/base/error.h"

namespace psn::ppx {

CommandWords::CommandWords(const std::string& command) {
  const int status = ::wordexp(command.c_str(), &words_, WRDE_NOCMD | WRDE_UNDEF);
  if (status != 0 || words_.we_wordc == 0) {
    throw InvalidArgument(fmt::format(
        "cannot split the command '{}' into words; quote what is special to a shell", command));
  }
}

}  // namespace psn::ppx
