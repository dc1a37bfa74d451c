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

/* Rows whose products are scanned, as `Quantise` leaves them; their numbers; and the best cells of
   each, `kept` keys whose root is the first. See search.c. */
typedef struct {
    const int16_t *rows;
    const int64_t *ids;
    int64_t *best;
    ptrdiff_t count, kept;
} Side;

/* The longest row: products of two such rows fit 32 bits, their numbers 16. */
#define LONGEST 1.023f

/* Tells how many rows of the right side make a tile. */
typedef ptrdiff_t Wide(void);
/* Rounds some rows of float16 or float32 to multiples of 1/32,000, for one side; tells whether none
   is longer than LONGEST. */
typedef int Quantise(const void *rows, int is_half, ptrdiff_t dim, const int64_t *ids,
                     ptrdiff_t count, int is_left, int16_t *out);
/* Lets the products of all rows of two sides into the best of both, and `again` those that may be
   there already. */
typedef void Scan(Side left, Side right, ptrdiff_t dim, int again);
/* Lets keys, some for each row, into the best of the rows. */
typedef void Merge(int64_t *best, const int64_t *rows, ptrdiff_t count, ptrdiff_t kept,
                   const int64_t *keys);
/* Computes exact cosines of float16 rows and some others each, cut at 1; -inf where an id is -1. */
typedef void Cosines(const uint16_t *rows, const uint16_t *others, ptrdiff_t dim,
                     const int64_t *ids, ptrdiff_t count, ptrdiff_t each, float *out);

/* Every kernel of a set, as X(its type, its name, the set). */
#define EACH_KERNEL(X, set)                                                        \
    X(Means, means, set) X(Path, path, set) X(Matching, matching, set)             \
    X(Wide, wide, set) X(Quantise, quantise, set) X(Scan, scan, set) X(Merge, merge, set) \
    X(Cosines, cosines, set)
#define MEMBER(Type, kernel, set) Type *kernel;
#define DECLARE(Type, kernel, set) extern Type JOINED(kernel, set);
#define POINTER(Type, kernel, set) JOINED(kernel, set),

typedef struct {
    const char *name;
    EACH_KERNEL(MEMBER, none)
} Kernels;

#define DECLARED(set) EACH_KERNEL(DECLARE, set)
#define LISTED(set) {#set, EACH_KERNEL(POINTER, set)}
