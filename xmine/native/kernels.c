/* All kernels, compiled once for each instruction set (`setup.py`): the table of that set. */
#include "kernels.h"
#include "simd.h"

#include "matching.c"
#include "means.c"
#include "path.c"
#include "search.c"

#define JOINED(a, b) a##b
#define TABLE(set) const Kernels JOINED(kernels_, set) = \
    {#set, WIDE, means, path, matching, quantise, scan, merge, cosines}
#define NAMED(set) TABLE(set)
NAMED(XMINE_SET);
