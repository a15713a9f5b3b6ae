// Parts of psn that need libraries which most runs do not: in a shared library of their own, beside
// this one, that is loaded when they are asked for.
#pragma once

namespace psn {

// What the module has by that name, for as long as the process lives; nullptr: it cannot be loaded
// (dlerror() has the reason). Any thread.
void* symbol_of_module(const char* module, const char* symbol);

}  // namespace psn
