// A simulator in a shared library of its own, for `psn infer ./libmodel.so`:
//
//   #include "psn/core/plugin.h"
//   static psn::Value program(psn::Context& ctx) { ... }
//   PSN_PLUGIN(psn::Model("my-model", program, "what it simulates"))
#pragma once

#include "psn/core/model.h"

// Changes whenever a plugin must be compiled anew.
#define PSN_PLUGIN_VERSION 1u

#define PSN_PLUGIN(model)                                                            \
  extern "C" __attribute__((visibility("default"))) unsigned psn_plugin_version() {  \
    return PSN_PLUGIN_VERSION;                                                       \
  }                                                                                  \
  extern "C" __attribute__((visibility("default"))) psn::Model* psn_plugin_model() { \
    return new psn::Model(model);                                                    \
  }
