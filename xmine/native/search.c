/* Unit rows -> the best cells of their products, of the rows of both sides at once.

   Rows are rounded to 16 bits, so that sums are exact and all sets find the same cells. Sums are
   compared in registers with the worst kept cell of their row and of their column; no block of them
   is ever written. A cell is a key as in `xmine.knn.topk`; the kept ones are a heap whose root is
   the worst. */

/* The longest row: products of two such rows fit 32 bits, their numbers 16. */
#define LONGEST 1.023f
/* A tile is TALL rows by BROAD vectors of columns: sums, one row and the columns stay in registers.
   Measured at 320 numbers: 1.75 ns a cell with AVX-512 VNNI, 4.0 with AVX2; 12 x 2 spills. */
enum { TALL = LANES == 16 ? 8 : 4, BROAD = 2, WIDE = BROAD * LANES };
enum { ROWS_AT_ONCE = 1024, PIECE = 32 };
#define SCALE 32000.0f
#define ROUNDING 12582912.0f /* 1.5 * 2^23: a sum with it has its whole number in its last bits */

/* Read PIECE numbers of float16 or float32 exactly. */
static inline void decode(const char *from, int is_half, float *out) {
    if (!is_half) {
        memcpy(out, from, PIECE * sizeof(float));
        return;
    }
    uint16_t halves[PIECE];
    uint32_t bits[PIECE];
    memcpy(halves, from, sizeof halves);
    for (int i = 0; i < PIECE; i++) bits[i] = (halves[i] & 0x8000u) << 16 | (halves[i] & 0x7FFFu) << 13;
    memcpy(out, bits, sizeof bits);
    for (int i = 0; i < PIECE; i++) out[i] *= 5192296858534827628530496329220096.0f; /* 2^112 */
}

/* Give the place of PIECE numbers of a row, or of fewer and zeros in `tail` where the row ends. */
static inline const char *piece(const char *row, ptrdiff_t at, ptrdiff_t dim, ptrdiff_t size,
                                char *tail) {
    if (dim - at >= PIECE) return row + at * size;
    memset(tail, 0, PIECE * sizeof(float));
    return memcpy(tail, row + at * size, (dim - at) * size);
}

static int quantise(const void *rows, int is_half, ptrdiff_t dim, const int64_t *ids,
                    ptrdiff_t count, int is_left, int16_t *out) {
    ptrdiff_t width = is_left ? 1 : WIDE, steps = (dim + 1) / 2, size = is_half ? 2 : 4;
    ptrdiff_t filled = (count + width - 1) / width * width;
    int are_unit = 1;
    if (count) memset(out + (filled - width) * steps * 2, 0, width * steps * 4);
    for (ptrdiff_t r = 0; r < count; r++) {
        const char *row = (const char *)rows + ids[r] * dim * size;
        int16_t *to = out + (r / width * width * steps + r % width) * 2;
        float squares[PIECE] = {0}, total = 0;
        PREFETCHED(r + AHEAD < count, (const char *)rows + ids[r + AHEAD] * dim * size, dim * size)
        for (ptrdiff_t at = 0; at < dim; at += PIECE) {
            char tail[PIECE * sizeof(float)];
            float v[PIECE], rounded[PIECE];
            int32_t bits[PIECE];
            int16_t whole[PIECE];
            decode(piece(row, at, dim, size, tail), is_half, v);
            for (int i = 0; i < PIECE; i++) squares[i] += v[i] * v[i];
            for (int i = 0; i < PIECE; i++) rounded[i] = v[i] * SCALE + ROUNDING;
            memcpy(bits, rounded, sizeof bits);
            for (int i = 0; i < PIECE; i++) whole[i] = (int16_t)bits[i];
            int last = dim - at < PIECE ? (int)(dim - at) : PIECE;
            if (last == PIECE && is_left)
                memcpy(to + at, whole, sizeof whole);
            else
                for (int i = 0; i < last; i += 2) memcpy(to + (at + i) * width, whole + i, 4);
        }
        for (int i = 0; i < PIECE; i++) total += squares[i];
        are_unit &= total <= LONGEST * LONGEST; /* NaN is not */
    }
    return are_unit;
}

static inline int64_t key_of(int32_t sum, int64_t column) {
    float value = (float)sum * (1 / (SCALE * SCALE));
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= bits < 0 ? 0x7FFFFFFF : 0;
    return (int64_t)((uint64_t)(uint32_t)bits << 32 | (uint64_t)(0xFFFFFFFF - column));
}

/* Give a sum that each sum whose key exceeds this one exceeds; the cosine of a key was rounded. */
static inline int32_t floor_of(int64_t key) {
    int32_t bits = (int32_t)(key >> 32);
    float value;
    bits ^= bits < 0 ? 0x7FFFFFFF : 0;
    memcpy(&value, &bits, sizeof value);
    if (!(value > -1.9f)) return INT32_MIN;
    return value < 1.9f ? (int32_t)((double)value * SCALE * SCALE) - 256 : INT32_MAX;
}

/* Let a key in if it is better than the root and not there yet. */
static inline void offer(int64_t *heap, ptrdiff_t kept, int64_t key, int again) {
    if (key <= heap[0]) return;
    for (ptrdiff_t i = 0; again && i < kept; i++)
        if (heap[i] == key) return;
    ptrdiff_t at = 0;
    for (ptrdiff_t low = 1; low < kept; low = 2 * at + 1) {
        low += low + 1 < kept && heap[low + 1] < heap[low];
        if (heap[low] >= key) break;
        heap[at] = heap[low], at = low;
    }
    heap[at] = key;
}

static void merge(int64_t *best, const int64_t *rows, ptrdiff_t count, ptrdiff_t kept,
                  const int64_t *keys) {
    for (ptrdiff_t r = 0; r < count; r++)
        for (ptrdiff_t i = 0; i < kept; i++) offer(best + rows[r] * kept, kept, keys[r * kept + i], 1);
}

/* Offer those cells of one row and LANES columns that may be kept. */
static void look(Whole sums, uint32_t hits, Side left, Side right, ptrdiff_t row, ptrdiff_t column,
                 int again, int32_t *row_floor, int32_t *floors) {
    int32_t sum[LANES];
    store(sum, sums);
    for (int i = 0; i < LANES && column + i < right.count; i++) {
        if (!(hits >> i & 1)) continue;
        int64_t *own = left.best + row * left.kept, *other = right.best + (column + i) * right.kept;
        offer(own, left.kept, key_of(sum[i], right.ids[column + i]), again);
        offer(other, right.kept, key_of(sum[i], left.ids[row]), again);
        *row_floor = floor_of(own[0]);
        floors[i] = floor_of(other[0]);
    }
}

static void scan(Side left, Side right, ptrdiff_t dim, int again) {
    ptrdiff_t steps = (dim + 1) / 2;
    int32_t row_floors[ROWS_AT_ONCE], floors[WIDE];
    for (ptrdiff_t top = 0; top < left.count; top += ROWS_AT_ONCE) {
        ptrdiff_t end = left.count - top < ROWS_AT_ONCE ? left.count : top + ROWS_AT_ONCE;
        for (ptrdiff_t r = top; r < end; r++) row_floors[r - top] = floor_of(left.best[r * left.kept]);
        for (ptrdiff_t column = 0; column < right.count; column += WIDE) {
            for (ptrdiff_t i = 0; i < WIDE; i++)
                floors[i] = column + i < right.count
                                ? floor_of(right.best[(column + i) * right.kept]) : INT32_MAX;
            for (ptrdiff_t row = top; row < end; row += TALL) {
                const int16_t *a[TALL];
                UNROLLED for (int r = 0; r < TALL; r++)
                    a[r] = left.rows + (row + r < end ? row + r : row) * steps * 2;
                const int16_t *b = right.rows + column * steps * 2;
                Whole sums[TALL][BROAD];
                UNROLLED for (int r = 0; r < TALL; r++)
                    UNROLLED for (int c = 0; c < BROAD; c++) sums[r][c] = every(0);
                for (ptrdiff_t s = 0; s < steps; s++, b += 2 * WIDE) {
                    Whole columns[BROAD];
                    UNROLLED for (int c = 0; c < BROAD; c++) columns[c] = load(b + 2 * LANES * c);
                    UNROLLED for (int r = 0; r < TALL; r++) {
                        int32_t pair;
                        memcpy(&pair, a[r] + 2 * s, sizeof pair);
                        Whole each = every(pair);
                        UNROLLED for (int c = 0; c < BROAD; c++)
                            sums[r][c] = dot(sums[r][c], each, columns[c]);
                    }
                }
                ptrdiff_t rows = end - row < TALL ? end - row : TALL;
                UNROLLED for (int r = 0; r < TALL; r++)
                    UNROLLED for (int c = 0; c < BROAD; c++) {
                        if (r >= rows) continue;
                        int32_t *own = row_floors + (row - top) + r;
                        uint32_t hits = above(sums[r][c], every(*own)) |
                                        above(sums[r][c], load(floors + LANES * c));
                        if (hits)
                            look(sums[r][c], hits, left, right, row + r, column + LANES * c, again, own,
                                 floors + LANES * c);
                    }
            }
        }
    }
}

static void cosines(const uint16_t *rows, const uint16_t *others, ptrdiff_t dim,
                    const int64_t *ids, ptrdiff_t count, ptrdiff_t each, float *out) {
    for (ptrdiff_t cell = 0; cell < count * each; cell++) {
        if (ids[cell] < 0) {
            out[cell] = -INFINITY;
            continue;
        }
        const char *one = (const char *)(rows + cell / each * dim);
        const char *other = (const char *)(others + ids[cell] * dim);
        PREFETCHED(cell + AHEAD < count * each && ids[cell + AHEAD] >= 0,
                   others + ids[cell + AHEAD] * dim, dim * 2)
        double sums[PIECE] = {0}, total = 0;
        for (ptrdiff_t at = 0; at < dim; at += PIECE) {
            char tail[2][PIECE * sizeof(float)];
            float x[PIECE], y[PIECE];
            decode(piece(one, at, dim, 2, tail[0]), 1, x);
            decode(piece(other, at, dim, 2, tail[1]), 1, y);
            for (int i = 0; i < PIECE; i++) sums[i] += x[i] * y[i]; /* 22 bits: exact */
        }
        for (int i = 0; i < PIECE; i++) total += sums[i];
        out[cell] = (float)(total < 1 ? total : 1);
    }
}
