/* The Python side of the kernels: buffers in, numbers checked, the GIL released.

   Types, shapes and strides are checked by the callers in `xmine.native`; here sizes and whatever
   else would let a kernel read or write outside of its buffers. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

#ifdef XMINE_WITH_avx2
DECLARED(vnni) DECLARED(avx2)
#ifdef _MSC_VER
#include <intrin.h>
static int runs(int set) {
    int leaf[4], more[4];
    __cpuid(leaf, 1);
    if (!(leaf[2] >> 27 & 1)) return 0; /* OSXSAVE */
    unsigned long long kept = _xgetbv(0);
    __cpuidex(more, 7, 0);
    int avx2 = (kept & 6) == 6 && more[1] >> 5 & 1 && leaf[2] >> 12 & 1;
    /* AVX-512 F, DQ, BW and VL, and VNNI */
    int wide = (more[1] & 0xC0030000u) == 0xC0030000u && more[2] >> 11 & 1;
    return set ? avx2 : avx2 && (kept & 0xE6) == 0xE6 && wide;
}
#else
static int runs(int set) {
    if (set) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
#endif
#else
static int runs(int set) { return 1; }
#ifdef XMINE_WITH_neon
DECLARED(neon)
#endif
#endif
DECLARED(plain)

/* Falling by speed; the last one runs everywhere. */
static const Kernels SETS[] = {
#ifdef XMINE_WITH_avx2
    LISTED(vnni), LISTED(avx2),
#endif
#ifdef XMINE_WITH_neon
    LISTED(neon),
#endif
    LISTED(plain),
};
enum { COUNT = sizeof SETS / sizeof *SETS };
static const Kernels *chosen = &SETS[COUNT - 1];

static PyObject *sets(PyObject *self, PyObject *nothing) {
    PyObject *names = PyList_New(0);
    for (int i = 0; names && i < COUNT; i++) {
        if (i < COUNT - 1 && !runs(i)) continue;
        PyObject *name = PyUnicode_FromString(SETS[i].name);
        if (!name || PyList_Append(names, name)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *choose(PyObject *self, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(name, SETS[i].name) && (i == COUNT - 1 || runs(i))) {
            chosen = &SETS[i];
            Py_RETURN_NONE;
        }
    return PyErr_Format(PyExc_ValueError, "no instruction set %s here", name);
}

enum { MOST_TOKENS = 1 << 30, MOST_NUMBERS = 1 << 20 };

/* Release buffers; give None, or NULL where something is wrong. */
static PyObject *finished(Py_buffer *buffers, int count, const char *wrong) {
    for (int i = 0; i < count; i++)
        if (buffers[i].obj) PyBuffer_Release(&buffers[i]);
    if (PyErr_Occurred()) return NULL;
    if (wrong) return PyErr_Format(PyExc_ValueError, "%s", wrong);
    Py_RETURN_NONE;
}

static PyObject *means(PyObject *self, PyObject *args) {
    Py_buffer b[5] = {{0}};
    Py_ssize_t dim;
    if (!PyArg_ParseTuple(args, "y*y*ny*y*w*", b, b + 1, &dim, b + 2, b + 3, b + 4))
        return finished(b, 5, NULL);
    ptrdiff_t rows = b[1].len / 4, texts = b[3].len / 8 - 1, pieces = b[2].len / 4;
    const int32_t *ids = b[2].buf;
    const int64_t *starts = b[3].buf;
    if (dim < 1 || texts < 0 || b[0].len != rows * dim || b[4].len != texts * dim * 4)
        return finished(b, 5, "means: sizes differ");
    int outside = starts[0] < 0 || starts[texts] > pieces;
    for (ptrdiff_t i = 0; i < texts; i++) outside |= starts[i] > starts[i + 1];
    for (ptrdiff_t i = 0; i < pieces; i++) outside |= ids[i] < 0 || ids[i] >= rows;
    if (outside) return finished(b, 5, "means: a piece that the table has not");
    Py_BEGIN_ALLOW_THREADS
    chosen->means(b[0].buf, b[1].buf, dim, ids, starts, texts, b[4].buf);
    Py_END_ALLOW_THREADS
    return finished(b, 5, NULL);
}

static PyObject *path(PyObject *self, PyObject *args) {
    Py_buffer b[7] = {{0}};
    Py_ssize_t first, stop, size;
    double line, gap;
    if (!PyArg_ParseTuple(args, "y*y*y*y*w*w*w*nnndd", b, b + 1, b + 2, b + 3, b + 4, b + 5, b + 6,
                          &first, &stop, &size, &line, &gap))
        return finished(b, 7, NULL);
    const float *given = b[0].buf;
    ptrdiff_t rows = b[1].len / 8, columns = b[5].len / 8, cells = 0;
    ptrdiff_t pad = size < 2 ? -1 : b[4].len / 8 / size - columns;
    Band band = {b[1].buf, b[2].buf, b[3].buf, b[4].buf, b[5].buf, columns, pad, size, b[3].len / 16};
    int bad = b[2].len != b[1].len || first < 0 || stop < first || stop > rows || pad < 0 ||
              b[4].len != size * (columns + pad) * 8 || band.kinds < 1 || band.kinds > 61;
    for (ptrdiff_t i = 0; !bad && i < band.kinds; i++)
        bad = band.lines[2 * i] < 1 || band.lines[2 * i] >= size || band.lines[2 * i + 1] < 0 ||
              band.lines[2 * i + 1] > pad;
    for (ptrdiff_t i = 0; !bad && i < stop; i++) {
        bad = band.starts[i] < (i ? band.starts[i - 1] : 0) || band.stops[i] < band.starts[i] ||
              band.stops[i] > columns;
        cells += i < first ? 0 : band.stops[i] - band.starts[i];
    }
    if (bad || b[0].len != cells * (band.kinds - 1) * 4 || b[6].len != cells)
        return finished(b, 7, "path: a cell outside of the band");
    for (ptrdiff_t i = 0; i < b[0].len / 4; i++) bad |= !(given[i] - given[i] == 0);
    if (bad || !(line - line + gap - gap == 0)) return finished(b, 7, "path: no finite score");
    Py_BEGIN_ALLOW_THREADS
    chosen->path(given, &band, first, stop, line, gap, b[6].buf);
    Py_END_ALLOW_THREADS
    return finished(b, 7, NULL);
}

/* Whether a side has `pairs` pairs, all of whose tokens have a row of the table. */
static int is_sound(const Py_buffer *b, const Tokens *side, ptrdiff_t dim, ptrdiff_t pairs) {
    ptrdiff_t tokens = b[1].len / 4;
    int is_out = side->width < dim || b[0].len % (side->width * 2) || b[2].len / 8 - 1 != pairs;
    is_out |= tokens > MOST_TOKENS || b[4].len != 4 * tokens || b[5].len != 4 * tokens;
    is_out |= side->less && b[3].len != 4 * tokens;
    if (is_out || side->starts[0] != 0 || side->starts[pairs] != tokens) return 0;
    for (ptrdiff_t i = 0; i < pairs; i++) is_out |= side->starts[i] > side->starts[i + 1];
    ptrdiff_t rows = b[0].len / (side->width * 2);
    for (ptrdiff_t i = 0; i < tokens; i++) is_out |= side->ids[i] < 0 || side->ids[i] >= rows;
    return !is_out;
}

static PyObject *matching(PyObject *self, PyObject *args) {
    Py_buffer b[12] = {{0}}, *other = b + 6;
    Py_ssize_t dim, widths[2];
    if (!PyArg_ParseTuple(args, "n(ny*y*y*y*w*w*)(ny*y*y*y*w*w*)", &dim, widths, b, b + 1, b + 2,
                          b + 3, b + 4, b + 5, widths + 1, other, other + 1, other + 2, other + 3,
                          other + 4, other + 5))
        return finished(b, 12, NULL);
    Tokens sides[2];
    ptrdiff_t pairs = b[2].len / 8 - 1;
    int is_whole = dim > 0 && pairs >= 0 && !b[3].len == !other[3].len;
    for (int i = 0; i < 2 && is_whole; i++) {
        const Py_buffer *its = b + 6 * i;
        const int32_t *less = b[3].len ? its[3].buf : NULL;
        sides[i] = (Tokens){its[0].buf, widths[i], its[1].buf, its[2].buf,
                            less,       its[4].buf, its[5].buf};
        is_whole = is_sound(its, &sides[i], dim, pairs);
    }
    if (!is_whole) return finished(b, 12, "matching: a token that the table has not");
    int is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = chosen->matching(&sides[0], &sides[1], dim, pairs);
    Py_END_ALLOW_THREADS
    if (!is_done) PyErr_NoMemory();
    return finished(b, 12, NULL);
}

/* Tell whether int64 numbers are outside of 0 to `rows` - 1, or of `lowest` to that. */
static int are_outside(const int64_t *ids, ptrdiff_t count, ptrdiff_t rows, int64_t lowest) {
    int outside = 0;
    for (ptrdiff_t i = 0; i < count; i++) outside |= ids[i] < lowest || ids[i] >= rows;
    return outside;
}

/* Tell whether rows of whole numbers are of a width, and as many as one side takes. */
static int is_full(ptrdiff_t bytes, ptrdiff_t count, ptrdiff_t dim, int is_left) {
    ptrdiff_t width = is_left ? 1 : chosen->wide();
    if (dim < 1 || dim > MOST_NUMBERS) return 0;
    return bytes / 2 >= (count + width - 1) / width * width * (dim + dim % 2);
}

static PyObject *quantise(PyObject *self, PyObject *args) {
    Py_buffer b[3] = {{0}};
    Py_ssize_t dim;
    int is_half, is_left, are_unit = 1;
    if (!PyArg_ParseTuple(args, "y*npy*pw*", b, &dim, &is_half, b + 1, &is_left, b + 2))
        return finished(b, 3, NULL);
    ptrdiff_t size = is_half ? 2 : 4, count = b[1].len / 8;
    if (!is_full(b[2].len, count, dim, is_left) || b[0].len % (dim * size))
        return finished(b, 3, "quantise: sizes differ");
    if (are_outside(b[1].buf, count, b[0].len / (dim * size), 0))
        return finished(b, 3, "quantise: a row that is not there");
    Py_BEGIN_ALLOW_THREADS
    are_unit = chosen->quantise(b[0].buf, is_half, dim, b[1].buf, count, is_left, b[2].buf);
    Py_END_ALLOW_THREADS
    return finished(b, 3, are_unit ? NULL : "these are not unit vectors");
}

static PyObject *scan(PyObject *self, PyObject *args) {
    Py_buffer b[6] = {{0}};
    Py_ssize_t dim;
    int again;
    Side sides[2];
    if (!PyArg_ParseTuple(args, "y*y*w*y*y*w*np", b, b + 1, b + 2, b + 3, b + 4, b + 5, &dim, &again))
        return finished(b, 6, NULL);
    for (int i = 0; i < 2; i++) {
        ptrdiff_t count = b[3 * i + 1].len / 8, keys = b[3 * i + 2].len / 8;
        if (!is_full(b[3 * i].len, count, dim, i == 0) || !count || keys < count || keys % count)
            return finished(b, 6, "scan: sizes differ");
        sides[i] = (Side){b[3 * i].buf, b[3 * i + 1].buf, b[3 * i + 2].buf, count, keys / count};
    }
    Py_BEGIN_ALLOW_THREADS
    chosen->scan(sides[0], sides[1], dim, again);
    Py_END_ALLOW_THREADS
    return finished(b, 6, NULL);
}

static PyObject *merge(PyObject *self, PyObject *args) {
    Py_buffer b[3] = {{0}};
    Py_ssize_t kept;
    if (!PyArg_ParseTuple(args, "w*ny*y*", b, &kept, b + 1, b + 2)) return finished(b, 3, NULL);
    ptrdiff_t count = b[1].len / 8, keys = b[2].len / 8;
    if (kept < 1 || (count ? keys % count || keys / count != kept : keys)) return finished(b, 3, "merge: sizes differ");
    if (are_outside(b[1].buf, count, b[0].len / 8 / kept, 0))
        return finished(b, 3, "merge: a row that is not there");
    Py_BEGIN_ALLOW_THREADS
    chosen->merge(b[0].buf, b[1].buf, count, kept, b[2].buf);
    Py_END_ALLOW_THREADS
    return finished(b, 3, NULL);
}

static PyObject *cosines(PyObject *self, PyObject *args) {
    Py_buffer b[4] = {{0}};
    Py_ssize_t dim;
    if (!PyArg_ParseTuple(args, "y*y*y*nw*", b, b + 1, b + 2, &dim, b + 3))
        return finished(b, 4, NULL);
    ptrdiff_t rows = dim > 0 ? b[0].len / 2 / dim : 0, cells = b[2].len / 8;
    if (dim < 1 || b[3].len / 4 != cells || (cells && (!rows || cells % rows)))
        return finished(b, 4, "cosines: sizes differ");
    if (are_outside(b[2].buf, cells, b[1].len / 2 / dim, -1))
        return finished(b, 4, "cosines: a row that is not there");
    Py_BEGIN_ALLOW_THREADS
    chosen->cosines(b[0].buf, b[1].buf, dim, b[2].buf, rows, rows ? cells / rows : 0, b[3].buf);
    Py_END_ALLOW_THREADS
    return finished(b, 4, NULL);
}

static PyMethodDef METHODS[] = {
    {"sets", sets, METH_NOARGS, "Name the instruction sets that run here, the fastest first."},
    {"choose", choose, METH_VARARGS, "Use the kernels of an instruction set from now on."},
    {"means", means, METH_VARARGS, "means(rows, factors, dim, ids, starts, out)"},
    {"path", path, METH_VARARGS,
     "path(given, starts, stops, kinds, values, down, codes, first, stop, size, line, gap)"},
    {"matching", matching, METH_VARARGS, "matching(dim, side, side); see `Tokens` of kernels.h"},
    {"quantise", quantise, METH_VARARGS, "quantise(vectors, dim, is_half, ids, is_left, out)"},
    {"scan", scan, METH_VARARGS, "scan(left, ids, best, right, ids, best, dim, again)"},
    {"merge", merge, METH_VARARGS, "merge(best, kept, rows, keys)"},
    {"cosines", cosines, METH_VARARGS, "cosines(vectors, others, ids, dim, out)"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_kernels", NULL, 0, METHODS, NULL, NULL, NULL, NULL,
};
PyMODINIT_FUNC PyInit__kernels(void) { return PyModule_Create(&MODULE); }
