/* The kernels of one instruction set; see the file of each name, or search.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A band of cells, and the best values of the paths that reach the cells of its last rows. */
typedef struct {
    const int64_t *starts, *stops, *lines; /* of each row; source and target lines of each kind */
    double *values, *down;                 /* of the last `size` rows; of gaps, at each column */
    ptrdiff_t columns, pad, size, kinds;   /* the last kind is the deletion */
} Band;

/* The tokens of one side of some pairs: pair p has those from starts[p] to starts[p + 1]. */
typedef struct {
    const int16_t *table; /* rows of `width` numbers */
    ptrdiff_t width;
    const int32_t *ids; /* the row of each token */
    const int64_t *starts;
    const int32_t *less; /* subtracted from products with each token; or NULL */
    int32_t *best, *place;
} Tokens;

/* Rows whose products are scanned, as `quantise` leaves them; their numbers; and the best cells of
   each, `kept` keys whose root is the first. */
typedef struct {
    const int16_t *rows;
    const int64_t *ids;
    int64_t *best;
    ptrdiff_t count, kept;
} Side;

typedef struct {
    const char *name;
    ptrdiff_t wide; /* how many rows of the right side make a tile */
    /* Averages rows of a table over the pieces of each text. */
    void (*means)(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                  const int64_t *starts, ptrdiff_t texts, float *out);
    /* Finds how the best path reaches the cells of a band's rows. */
    void (*path)(const float *given, const Band *band, ptrdiff_t row, ptrdiff_t stop, double line,
                 double gap, uint8_t *codes);
    /* Finds for each token the best of the other side; 0 where memory is short. */
    int (*matching)(const Tokens *x, const Tokens *y, ptrdiff_t dim, ptrdiff_t pairs);
    /* Rounds some rows of float16 or float32 to multiples of 1/32,000, for one side; tells whether
       none is so long that products do not fit 32 bits. */
    int (*quantise)(const void *rows, int is_half, ptrdiff_t dim, const int64_t *ids,
                    ptrdiff_t count, int is_left, int16_t *out);
    /* Lets the products of all rows of two sides into the best of both, and `again` those that may
       be there already. */
    void (*scan)(Side left, Side right, ptrdiff_t dim, int again);
    /* Lets keys, some for each row, into the best of the rows. */
    void (*merge)(int64_t *best, const int64_t *rows, ptrdiff_t count, ptrdiff_t kept,
                  const int64_t *keys);
    /* Computes exact cosines of float16 rows and some others each, cut at 1; -inf for an id -1. */
    void (*cosines)(const uint16_t *rows, const uint16_t *others, ptrdiff_t dim,
                    const int64_t *ids, ptrdiff_t count, ptrdiff_t each, float *out);
} Kernels;
