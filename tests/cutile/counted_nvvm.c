/* counted_nvvm.c: stands before the real libNVVM, which it needs and whose functions are found through it, and writes
 * down that it was loaded: calls/__pycache__, see cuda/cudatest/knobs.h. Each run of tileiras loads libNVVM. */
#include "knobs.h"

__attribute__((constructor)) static void loaded(void) { knob_witness("%s", "nvvm"); }
