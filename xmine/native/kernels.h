/* The kernels of one instruction set, and a table of the sets that were compiled. */
#pragma once
#include "simd.h"

/* Averages rows of a table over the pieces of each text; see means.c. */
typedef void Means(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                   const int64_t *starts, ptrdiff_t texts, float *out);

/* The tokens of one side of some pairs: pair p has those from starts[p] to starts[p + 1]. */
typedef struct {
    const int16_t *table; /* rows of `width` numbers */
    ptrdiff_t width;
    const int32_t *ids; /* the row of each token */
    const int64_t *starts;
    const int32_t *less; /* subtracted from products with each token; or NULL */
    int32_t *best, *place;
} Tokens;

/* Finds for each token the best of the other side, see matching.c; 0 where memory is short. */
typedef int Matching(const Tokens *x, const Tokens *y, ptrdiff_t dim, ptrdiff_t pairs);

typedef struct {
    const char *name;
    Means *means;
    Matching *matching;
} Kernels;

/* `Kernels` of a set whose kernels carry its name. */
#define DECLARED(set)               \
    extern Means JOINED(means, set); \
    extern Matching JOINED(matching, set);
#define LISTED(set) {#set, JOINED(means, set), JOINED(matching, set)}
