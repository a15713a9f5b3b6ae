// A command split into words as a shell would do, though no shell runs.
#pragma once

#include <wordexp.h>

#include <string>

namespace psn::ppx {

class CommandWords {
 public:
  // Throws InvalidArgument if it cannot be split.
  explicit CommandWords(const std::string& command);
  ~CommandWords() { ::wordfree(&words_); }
  CommandWords(const CommandWords&) = delete;
  CommandWords& operator=(const CommandWords&) = delete;
  char** argv() const { return words_.we_wordv; }  // ends with a null pointer

 private:
  wordexp_t words_{};
};

}  // namespace psn::ppx
