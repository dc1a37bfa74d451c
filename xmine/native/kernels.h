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

typedef struct {
    const char *name;
    Means *means;
    Path *path;
} Kernels;

/* `Kernels` of a set whose kernels carry its name. */
#define DECLARED(set) extern Means JOINED(means, set); extern Path JOINED(path, set);
#define LISTED(set) {#set, JOINED(means, set), JOINED(path, set)}
