/* Pairs of sentences -> for each token the largest product with a token of the other side.

   Products stay in registers: a row of ROWS tokens of x against LANES tokens of y. Its twin is
   `xmine.scoring.late_interaction._by_numpy`. */
#include <stdlib.h>

enum { ROWS = 8 };

/* Lay out tokens by panels of `lanes`: their first two numbers, then the next two. */
static void lay_out(const Tokens *side, int64_t first, ptrdiff_t tokens, int64_t last,
                    ptrdiff_t lanes, ptrdiff_t dim, int32_t *panels) {
    ptrdiff_t steps = (dim + 1) / 2;
    if (tokens % lanes) memset(panels + tokens / lanes * steps * lanes, 0, 4 * steps * lanes);
    for (ptrdiff_t j = 0; j < tokens; j++) {
        const int16_t *row = side->table + side->ids[first + j] * side->width;
        PREFETCHED(first + j + AHEAD < last,
                   side->table + side->ids[first + j + AHEAD] * side->width, dim * 2)
        int32_t *to = panels + j / lanes * steps * lanes + j % lanes;
        for (ptrdiff_t k = 0; k < dim / 2; k++) memcpy(to + k * lanes, row + 2 * k, 4);
        if (dim % 2) {
            int16_t two[2] = {row[dim - 1], 0};
            memcpy(to + dim / 2 * lanes, two, 4);
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

/* Compare `count` tokens of x, laid out in `rows`, with the panels of y; the first has place i. */
static void pair(const Tokens *x, int64_t first, int32_t i, int count, ptrdiff_t steps,
                 const int32_t *rows, const int32_t *panel, ptrdiff_t wide, int32_t *best_of_y,
                 int32_t *place_of_y, const int32_t *less_of_y) {
    Whole best[ROWS], place[ROWS], sums[ROWS];
    for (int r = 0; r < ROWS; r++) best[r] = place[r] = every(0);
    for (ptrdiff_t p = 0; p < wide; p++) {
        for (int r = 0; r < ROWS; r++) sums[r] = every(0);
        for (ptrdiff_t k = 0; k < steps; k++, panel += LANES) {
            Whole column = load(panel);
            for (int r = 0; r < ROWS; r++)
                sums[r] = dot(sums[r], column, every(rows[k * ROWS + r]));
        }
        Whole theirs = load(best_of_y + p * LANES), where = load(place_of_y + p * LANES);
        for (int r = 0; r < ROWS; r++) {
            Whole ours = sums[r], other = sums[r];
            if (x->less) {
                ours = minus(ours, minus(load(less_of_y + p * LANES), ours));
                other = minus(other, minus(every(r < count ? x->less[first + r] : 0), other));
            }
            place[r] = either(ours, best[r], every((int32_t)p), place[r]);
            best[r] = either(ours, best[r], ours, best[r]);
            where = either(other, theirs, every(i + r), where);
            theirs = either(other, theirs, other, theirs);
        }
        store(best_of_y + p * LANES, theirs), store(place_of_y + p * LANES, where);
    }
    for (int r = 0; r < count; r++)
        largest(best[r], place[r], x->best + first + r, x->place + first + r);
}

static int matching(const Tokens *x, const Tokens *y, ptrdiff_t dim, ptrdiff_t pairs) {
    ptrdiff_t most = 0, steps = (dim + 1) / 2;
    for (ptrdiff_t p = 0; p < pairs; p++) {
        ptrdiff_t tokens = (ptrdiff_t)(y->starts[p + 1] - y->starts[p]);
        if (tokens > most) most = tokens;
    }
    most = (most + LANES) / LANES * LANES;
    int32_t *best = malloc(sizeof *best * (most * (steps + 3) + steps * ROWS));
    if (!best) return 0;
    int32_t *place = best + most, *less = place + most, *rows = less + most;
    int32_t *panels = rows + steps * ROWS;
    for (ptrdiff_t p = 0; p < pairs; p++) {
        int64_t first = y->starts[p], i = x->starts[p];
        ptrdiff_t tokens = (ptrdiff_t)(y->starts[p + 1] - first);
        ptrdiff_t wide = (tokens + LANES - 1) / LANES;
        size_t size = sizeof *best * tokens, whole = sizeof *best * wide * LANES;
        memset(best, 0, whole), memset(place, 0, whole), memset(less, 0, whole);
        if (y->less) memcpy(less, y->less + first, size);
        lay_out(y, first, tokens, y->starts[pairs], LANES, dim, panels);
        for (; i < x->starts[p + 1]; i += ROWS) {
            int count = x->starts[p + 1] - i < ROWS ? (int)(x->starts[p + 1] - i) : ROWS;
            lay_out(x, i, count, x->starts[pairs], ROWS, dim, rows);
            pair(x, i, (int32_t)(i - x->starts[p]), count, steps, rows, panels, wide, best, place,
                 less);
        }
        memcpy(y->best + first, best, size), memcpy(y->place + first, place, size);
    }
    free(best);
    return 1;
}
