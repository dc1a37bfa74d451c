/* The kernels of one instruction set, and a table of the sets that were compiled. */
#pragma once
#include "simd.h"

/* Averages rows of a table over the pieces of each text; see means.c. */
typedef void Means(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                   const int64_t *starts, ptrdiff_t texts, float *out);

typedef struct {
    const char *name;
    Means *means;
} Kernels;

/* `Kernels` of a set whose kernels carry its name. */
#define DECLARED(set) extern Means JOINED(means, set);
#define LISTED(set) {#set, JOINED(means, set)}
