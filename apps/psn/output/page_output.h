// The page that a command leaves beside its results.
#pragma once

#include <string>

namespace psn::app {

struct PageOptions {
  bool quiet = false;
  bool open = false;  // in a browser
};

// Writes DIRECTORY/report.html and says where it is, on stderr. What cannot be drawn is a warning:
// the results are there.
void leave_page(const std::string& directory, const PageOptions& options);
// Shows a file in the user's browser; says so if there is none.
void open_page(const std::string& file);

}  // namespace psn::app
