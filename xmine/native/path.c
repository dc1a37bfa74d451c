/* The scores of beads in some rows of a band -> how the best path reaches each of their cells.

   Its twin is `xmine.aligning.band._codes`, which also says what the bits mean: doubles are added
   and compared in the same order. */
enum { WIDTH = 256, LINE = 1, GAP = 2, RIGHT = 3, OPENED = 64, BEGINS = 128 };
static const double NEVER = -1e9, LITTLE = 1e-4;

static void path(const float *given, const Band *band, ptrdiff_t row, ptrdiff_t stop, double line,
                 double gap, uint8_t *codes) {
    ptrdiff_t size = band->size, stride = band->columns + band->pad, last = band->kinds - 1;
    for (; row < stop; row++) {
        ptrdiff_t start = band->starts[row], width = band->stops[row] - start;
        double *here = band->values + row % size * stride + band->pad;
        double single = NEVER, highest = NEVER; /* of the cells so far, see below */
        for (ptrdiff_t i = band->starts[row > size ? row - size : 0]; i < start; i++)
            here[i] = NEVER;
        for (ptrdiff_t left = 0; left < width; left += WIDTH) {
            ptrdiff_t some = width - left < WIDTH ? width - left : WIDTH;
            double best[WIDTH], *down = band->down + start + left;
            int64_t code[WIDTH];
            for (ptrdiff_t i = 0; i < some; i++) best[i] = -INFINITY, code[i] = 0;
            for (ptrdiff_t kind = 0; kind <= last; kind++) {
                ptrdiff_t n = band->lines[2 * kind], m = band->lines[2 * kind + 1];
                const double *from = band->values + (row - n + size) % size * stride + band->pad;
                const float *score = given + kind * width + left;
                from += start + left - m;
                if (kind < last)
                    for (ptrdiff_t i = 0; i < some; i++) {
                        double sum = from[i] + (double)score[i];
                        code[i] = sum > best[i] ? kind : code[i];
                        best[i] = sum > best[i] ? sum : best[i];
                    }
                else /* a deletion, or a gap of source lines that begins here or before */
                    for (ptrdiff_t i = 0; i < some; i++) {
                        double sum = from[i] + line, opened = from[i] + gap;
                        code[i] = sum > best[i] ? kind : code[i];
                        best[i] = sum > best[i] ? sum : best[i];
                        int64_t is_new = opened >= down[i] ? OPENED : 0;
                        down[i] = opened > down[i] ? opened : down[i];
                        code[i] = (down[i] > best[i] ? last + LINE : code[i]) | is_new;
                        best[i] = down[i] > best[i] ? down[i] : best[i];
                    }
            }
            if (row == 0 && left == 0) best[0] = 0;
            for (ptrdiff_t i = 0; i < some; i++) { /* insertions, and gaps of target lines */
                double slope = (double)(left + i) * line, ended = best[i];
                single = i + left == 0 || ended - slope > single ? ended - slope : single;
                highest = i + left == 0 || ended > highest ? ended : highest;
                double by_lines = single + slope, by_gap = highest + gap;
                double found = by_lines > by_gap ? by_lines : by_gap;
                int64_t bits = code[i] & OPENED, kind = code[i] & (OPENED - 1);
                if (by_lines > ended + LITTLE) kind = last + GAP;
                if (found > by_lines + LITTLE) kind = last + RIGHT;
                here[start + left + i] = found;
                codes[left + i] = (uint8_t)(kind | bits | (ended >= highest ? BEGINS : 0));
            }
        }
        given += last * width;
        codes += width;
    }
}
