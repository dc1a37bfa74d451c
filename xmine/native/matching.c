/* Pairs of sentences -> for each token the largest product with a token of the other side.

   Products stay in registers: a row of ROWS tokens of x against LANES tokens of y. Its twin is
   `xmine.scoring.late_interaction._by_numpy`. */
#include <stdlib.h>

#include "kernels.h"

enum { ROWS = 8, AHEAD = 8 };

/* Add the products of two numbers (size 4), or of one (size 2), of ROWS tokens. */
static inline void step(Whole *sums, const int32_t *panel, const int16_t *const *rows,
                        ptrdiff_t at, size_t size) {
    Whole column = load(panel);
    for (int r = 0; r < ROWS; r++) {
        int32_t two = 0;
        memcpy(&two, rows[r] + at, size);
        sums[r] = dot(sums[r], column, every(two));
    }
}

/* Have the vector of a token in the cache soon. */
static inline void fetch(const Tokens *side, int64_t token, ptrdiff_t dim) {
#ifdef __GNUC__
    const int16_t *row = side->table + side->ids[token] * side->width;
    for (ptrdiff_t k = 0; k < dim; k += 32) __builtin_prefetch(row + k);
#endif
}

/* Lay out tokens by LANES: their first two numbers, then the next two. */
static void lay_out(const Tokens *y, int64_t first, ptrdiff_t tokens, int64_t last, ptrdiff_t dim,
                    int32_t *panels) {
    ptrdiff_t steps = (dim + 1) / 2;
    if (tokens % LANES) memset(panels + tokens / LANES * steps * LANES, 0, 4 * steps * LANES);
    for (ptrdiff_t j = 0; j < tokens; j++) {
        if (first + j + AHEAD < last) fetch(y, first + j + AHEAD, dim);
        const int16_t *row = y->table + y->ids[first + j] * y->width;
        int32_t *to = panels + j / LANES * steps * LANES + j % LANES;
        for (ptrdiff_t k = 0; k < dim / 2; k++) memcpy(to + k * LANES, row + 2 * k, 4);
        if (dim % 2) {
            int16_t last[2] = {row[dim - 1], 0};
            memcpy(to + dim / 2 * LANES, last, 4);
        }
    }
}

/* The largest of some lanes, and its place: the first of equal ones. */
static inline void largest(Whole best, Whole panel, int32_t *value, int32_t *place) {
    int32_t values[LANES], panels[LANES];
    store(values, best), store(panels, panel);
    int64_t found = 0;
    for (int lane = 0; lane < LANES; lane++) {
        int64_t key = (int64_t)values[lane] << 32 | (INT32_MAX - (panels[lane] * LANES + lane));
        found = key > found ? key : found;
    }
    *value = (int32_t)(found >> 32), *place = INT32_MAX - (int32_t)(found & INT32_MAX);
}

/* Compare the tokens of x with the panels of y. */
static void pair(const Tokens *x, int64_t first, ptrdiff_t count, ptrdiff_t dim,
                 const int32_t *panel, ptrdiff_t wide, int32_t *best_of_y, int32_t *place_of_y,
                 const int32_t *less_of_y) {
    const int32_t *panels = panel;
    for (ptrdiff_t i = 0; i < count; i += ROWS) {
        const int16_t *rows[ROWS];
        int64_t at[ROWS];
        Whole best[ROWS], place[ROWS];
        for (int r = 0; r < ROWS; r++) { /* behind the end the last token, which beats nothing */
            at[r] = first + (i + r < count ? i + r : count - 1);
            rows[r] = x->table + x->ids[at[r]] * x->width;
            best[r] = place[r] = zeros();
        }
        panel = panels;
        for (ptrdiff_t p = 0; p < wide; p++) {
            Whole sums[ROWS];
            for (int r = 0; r < ROWS; r++) sums[r] = zeros();
            for (ptrdiff_t k = 0; k + 1 < dim; k += 2, panel += LANES) step(sums, panel, rows, k, 4);
            if (dim % 2) step(sums, panel, rows, dim - 1, 2), panel += LANES;
            Whole theirs = load(best_of_y + p * LANES), where = load(place_of_y + p * LANES);
            for (int r = 0; r < ROWS; r++) {
                Whole ours = sums[r], other = sums[r];
                if (x->less) {
                    Whole twice = plus(ours, ours);
                    ours = minus(twice, load(less_of_y + p * LANES));
                    other = minus(twice, every(x->less[at[r]]));
                }
                place[r] = either(ours, best[r], every((int32_t)p), place[r]);
                best[r] = either(ours, best[r], ours, best[r]);
                where = either(other, theirs, every((int32_t)i + r), where);
                theirs = either(other, theirs, other, theirs);
            }
            store(best_of_y + p * LANES, theirs), store(place_of_y + p * LANES, where);
        }
        for (int r = 0; r < ROWS && i + r < count; r++)
            largest(best[r], place[r], x->best + at[r], x->place + at[r]);
    }
}

int NAME(matching)(const Tokens *x, const Tokens *y, ptrdiff_t dim, ptrdiff_t pairs) {
    ptrdiff_t most = 0, steps = (dim + 1) / 2;
    for (ptrdiff_t p = 0; p < pairs; p++) {
        ptrdiff_t tokens = (ptrdiff_t)(y->starts[p + 1] - y->starts[p]);
        if (tokens > most) most = tokens;
    }
    most = (most + LANES) / LANES * LANES;
    int32_t *best = malloc(sizeof *best * most * (steps + 3));
    if (!best) return 0;
    int32_t *place = best + most, *less = place + most, *panels = less + most;
    for (ptrdiff_t p = 0; p < pairs; p++) {
        int64_t i = x->starts[p], j = y->starts[p];
        ptrdiff_t tokens = (ptrdiff_t)(y->starts[p + 1] - j), wide = (tokens + LANES - 1) / LANES;
        size_t size = sizeof *best * tokens, whole = sizeof *best * wide * LANES;
        memset(best, 0, whole), memset(place, 0, whole), memset(less, 0, whole);
        if (y->less) memcpy(less, y->less + j, size);
        for (int64_t token = i; token < x->starts[p + 1]; token++) fetch(x, token, dim);
        lay_out(y, j, tokens, y->starts[pairs], dim, panels);
        pair(x, i, (ptrdiff_t)(x->starts[p + 1] - i), dim, panels, wide, best, place, less);
        memcpy(y->best + j, best, size), memcpy(y->place + j, place, size);
    }
    free(best);
    return 1;
}
