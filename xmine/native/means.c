/* The ids of the pieces of texts -> the mean vector of each text, straight from an int8 table.

   Its twin is `xmine.encoders.modules.static._mean_of_pieces`: sums begin at zero and take the
   pieces of a text in their order. */
#include "kernels.h"

enum { AHEAD = 6, WIDTH = 512 };

void NAME(means)(const int8_t *rows, const float *factors, ptrdiff_t dim, const int32_t *ids,
                 const int64_t *starts, ptrdiff_t texts, float *out) {
    for (ptrdiff_t text = 0; text < texts; text++) {
        int64_t first = starts[text], last = starts[text + 1];
        float length = last > first ? (float)(last - first) : 1;
        for (ptrdiff_t left = 0; left < dim; left += WIDTH) { /* a part that stays in level 1 */
            ptrdiff_t width = dim - left < WIDTH ? dim - left : WIDTH;
            float sum[WIDTH] = {0};
            for (int64_t place = first; place < last; place++) {
                const int8_t *row = rows + ids[place] * dim + left;
                float factor = factors[ids[place]];
#ifdef __GNUC__
                if (place + AHEAD < last)
                    for (ptrdiff_t i = 0; i < width; i += 64)
                        __builtin_prefetch(rows + ids[place + AHEAD] * dim + left + i);
#endif
                for (ptrdiff_t i = 0; i < width; i++) sum[i] += factor * (float)row[i];
            }
            for (ptrdiff_t i = 0; i < width; i++) out[text * dim + left + i] = sum[i] / length;
        }
    }
}
