/* cpu.h: what the processor is, to a compiler. */
#ifndef JC_CPU_H
#define JC_CPU_H

#include <stddef.h>
#include <stdint.h>

enum { JC_CPU_WORDS = 96 };

/* jc_cpu writes features, model and caches, and returns the number of words. What
 * tells one core of the processor from another is left out. */
size_t jc_cpu(uint32_t words[JC_CPU_WORDS]);

#endif
