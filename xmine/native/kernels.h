/* The kernels of one instruction set, and a table of the sets that were compiled. */
#pragma once
#include "simd.h"

/* Averages rows of a table over the pieces of each text; see means.c. */
typedef void Means(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                   const int64_t *starts, ptrdiff_t texts, float *out);

/* Finds how the best path reaches the cells of a band's rows; see path.c. */
typedef struct {
    const int64_t *starts, *stops, *lines; /* of each row; source and target lines of each kind */
    double *values, *down;                 /* of the last `size` rows; of gaps, at each column */
    ptrdiff_t columns, pad, size, kinds;   /* the last kind is the deletion */
} Band;
typedef void Path(const float *given, const Band *band, ptrdiff_t row, ptrdiff_t stop, double line,
                  double gap, uint8_t *codes);

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

/* Every kernel of a set, as X(its type, its name, the set). */
#define EACH_KERNEL(X, set) X(Means, means, set) X(Path, path, set) X(Matching, matching, set)
#define MEMBER(Type, kernel, set) Type *kernel;
#define DECLARE(Type, kernel, set) extern Type JOINED(kernel, set);
#define POINTER(Type, kernel, set) JOINED(kernel, set),

typedef struct {
    const char *name;
    EACH_KERNEL(MEMBER, none)
} Kernels;

#define DECLARED(set) EACH_KERNEL(DECLARE, set)
#define LISTED(set) {#set, EACH_KERNEL(POINTER, set)}
