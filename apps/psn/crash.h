// A last line before a crash: which simulation it was, and where.
#pragma once

namespace psn::app {

// For the rest of the process. A program that overflows its stack, or calls exit(), ends psn like
// any other failure of a simulator; after another crash psn dies of its signal.
void report_crashes();

}  // namespace psn::app
