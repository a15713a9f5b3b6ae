// PSN_VECTORIZE: compile a plain loop for several instruction sets; the best one is chosen when the
// library is loaded. Sanitizers cannot follow that, and get the plain loop.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PSN_VECTORIZE                                                          \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), \
                 optimize("O3", "fast-math")))
#else
#define PSN_VECTORIZE
#endif
