/* The kernels of one instruction set, and a table of the sets that were compiled. */
#pragma once
#include "simd.h"

/* Averages rows of a table over the pieces of each text; see means.c. */
typedef void Means(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                   const int64_t *starts, ptrdiff_t texts, float *out);

/* Rows whose products are scanned: in tiles, as `Quantise` leaves them; their numbers; and the best
   cells of each, `kept` keys whose root is the first. See search.c. */
typedef struct {
    const int16_t *rows;
    const int64_t *ids;
    int64_t *best;
    ptrdiff_t count, kept;
} Side;

/* The longest row: products of two such rows fit 32 bits, their numbers 16. */
#define LONGEST 1.023f

/* Tells how many rows of the left side and of the right one make a tile. */
typedef void Tile(ptrdiff_t *tall, ptrdiff_t *wide);
/* Rounds some rows of float16 or float32 to multiples of 1/32,000, into tiles of one side; tells
   whether none is longer than LONGEST. */
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

typedef struct {
    const char *name;
    Means *means;
    Tile *tile;
    Quantise *quantise;
    Scan *scan;
    Merge *merge;
    Cosines *cosines;
} Kernels;

/* `Kernels` of a set whose kernels carry its name. */
#define DECLARED(set)                                                                              \
    extern Means JOINED(means, set);                                                               \
    extern Tile JOINED(tile, set);                                                                 \
    extern Quantise JOINED(quantise, set);                                                         \
    extern Scan JOINED(scan, set);                                                                 \
    extern Merge JOINED(merge, set);                                                               \
    extern Cosines JOINED(cosines, set);
#define LISTED(set)                                                                                \
    {#set,           JOINED(means, set), JOINED(tile, set),   JOINED(quantise, set),               \
     JOINED(scan, set), JOINED(merge, set), JOINED(cosines, set)}
