/* precompile.h: what NVRTC's precompiled headers leave behind. */
#ifndef CUDATEST_PRECOMPILE_H
#define CUDATEST_PRECOMPILE_H

#include "preprocess.h"

/* precompile does what NVRTC does with --pch, if that is among the options. It leaves kernel.pch
 * in the folder of --pch-dir, or in that for temporary files, until the process exits. It goes
 * on with the headers in memory of the first program: NVRTC does not compare their texts. */
void precompile(reading *r, int n, const char *const *options);

#endif
