/* The ids of the pieces of texts -> the mean vector of each text, straight from an int8 table.

   Its twin is `xmine.encoders.modules.static._mean_of_pieces`: sums begin at zero and take the
   pieces of a text in their order. */
enum { PART = 512 }; /* what stays in level 1 */

static void means(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                  const int64_t *starts, ptrdiff_t texts, float *out) {
    for (ptrdiff_t text = 0; text < texts; text++) {
        int64_t first = starts[text], last = starts[text + 1];
        float length = last > first ? (float)(last - first) : 1;
        for (ptrdiff_t left = 0; left < dim; left += PART) {
            ptrdiff_t width = dim - left < PART ? dim - left : PART;
            float sum[PART] = {0};
            for (int64_t place = first; place < last; place++) {
                const int8_t *row = rows + ids[place] * dim + left;
                float factor = factors[ids[place]];
                PREFETCHED(place + AHEAD < last, rows + ids[place + AHEAD] * dim + left, width)
                for (ptrdiff_t i = 0; i < width; i++) sum[i] += factor * (float)row[i];
            }
            for (ptrdiff_t i = 0; i < width; i++) out[text * dim + left + i] = sum[i] / length;
        }
    }
}
