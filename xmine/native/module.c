/* The Python side of the kernels: buffers in, numbers checked, the GIL released.

   Types, shapes and strides are checked by the callers in Python; here sizes and whatever else
   would let a kernel read or write outside of its buffers. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "kernels.h"

/* Falling by speed; the last one runs everywhere. */
extern const Kernels kernels_vnni, kernels_avx2, kernels_neon, kernels_plain;
static const Kernels *const SETS[] = {
#ifdef XMINE_WITH_avx2
    &kernels_vnni, &kernels_avx2,
#endif
#ifdef XMINE_WITH_neon
    &kernels_neon,
#endif
    &kernels_plain,
};
enum { COUNT = sizeof SETS / sizeof *SETS };
static const Kernels *chosen = &kernels_plain;

#ifndef XMINE_WITH_avx2
static int runs(int set) { return 1; }
#elif defined(_MSC_VER)
#include <intrin.h>
static int runs(int set) {
    int leaf[4], more[4];
    __cpuid(leaf, 1);
    __cpuidex(more, 7, 0);
    unsigned long long kept = leaf[2] >> 27 & 1 ? _xgetbv(0) : 0; /* if there is OSXSAVE */
    int avx2 = (kept & 6) == 6 && more[1] >> 5 & 1 && leaf[2] >> 12 & 1;
    /* AVX-512 F, DQ, BW and VL, and VNNI */
    int wide = (more[1] & 0xC0030000u) == 0xC0030000u && more[2] >> 11 & 1;
    return set > 1 || (avx2 && (set || (wide && (kept & 0xE6) == 0xE6)));
}
#else
#define HAS __builtin_cpu_supports
static int runs(int set) {
    if (set) return set > 1 || (HAS("avx2") && HAS("fma"));
    return HAS("avx512vnni") && HAS("avx512bw") && HAS("avx512vl") && HAS("avx512dq");
}
#endif

static PyObject *sets(PyObject *self, PyObject *nothing) {
    PyObject *names = PyList_New(0);
    for (int i = 0; names && i < COUNT; i++) {
        if (!runs(i)) continue;
        PyObject *name = PyUnicode_FromString(SETS[i]->name);
        if (!name || PyList_Append(names, name)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *choose(PyObject *self, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(name, SETS[i]->name) && runs(i)) {
            chosen = SETS[i];
            Py_RETURN_NONE;
        }
    return PyErr_Format(PyExc_ValueError, "no instruction set %s here", name);
}

enum { MOST_TOKENS = 1 << 30, MOST_WIDTH = 1 << 20, MOST_BUFFERS = 12, MOST_NUMBERS = 5 };
static const char NO_MEMORY[] = "no memory";

/* The arguments of a call: buffers and how many items they have; and numbers. */
typedef struct {
    Py_buffer buffers[MOST_BUFFERS];
    void *b[MOST_BUFFERS];
    ptrdiff_t size[MOST_BUFFERS];
    double n[MOST_NUMBERS];
    int taken, numbers;
} Given;

/* Take arguments, also out of tuples, as `format` says: numbers (n), and buffers with items of 1,
   2, 4 or 8 bytes (b, h, i, q; capitals if they are written). */
static void take(PyObject *args, const char **format, Given *to) {
    static const char kinds[] = "bhiqBHIQ";
    for (Py_ssize_t i = 0; i < PyTuple_Size(args) && !PyErr_Occurred(); i++) {
        PyObject *item = PyTuple_GetItem(args, i);
        Py_buffer *buffer = &to->buffers[to->taken];
        ptrdiff_t kind = strchr(kinds, **format) - kinds;
        if (PyTuple_Check(item))
            take(item, format, to);
        else if (!**format)
            PyErr_SetString(PyExc_TypeError, "too many arguments");
        else if (*(*format)++ == 'n')
            to->n[to->numbers++] = PyFloat_AsDouble(item);
        else if (!PyObject_GetBuffer(item, buffer, kind < 4 ? PyBUF_SIMPLE : PyBUF_WRITABLE)) {
            to->b[to->taken] = buffer->buf;
            to->size[to->taken++] = buffer->len >> kind % 4;
        }
    }
}

/* What a kernel does with its arguments, without the GIL; or what is wrong with these. */
typedef const char *Work(void *const *b, const ptrdiff_t *size, const double *n);

static PyObject *answer(PyObject *args, const char *format, Work *work) {
    Given given = {0};
    const char *wrong = NULL;
    take(args, &format, &given);
    if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS
        wrong = *format ? "too few arguments" : work(given.b, given.size, given.n);
        Py_END_ALLOW_THREADS
    }
    while (given.taken) PyBuffer_Release(&given.buffers[--given.taken]);
    if (PyErr_Occurred()) return NULL;
    if (!wrong) Py_RETURN_NONE;
    PyErr_SetString(wrong == NO_MEMORY ? PyExc_MemoryError : PyExc_ValueError, wrong);
    return NULL;
}

#define ENTRY(name, format)                                                                        \
    static Work work_of_##name;                                                                    \
    static PyObject *name(PyObject *self, PyObject *args) {                                        \
        return answer(args, format, work_of_##name);                                               \
    }                                                                                              \
    static const char *work_of_##name(void *const *b, const ptrdiff_t *size, const double *n)

/* Whether texts begin at rising places in some tokens, all of which have a row. */
static int are_sound(const int64_t *starts, ptrdiff_t texts, const int32_t *ids, ptrdiff_t tokens,
                     ptrdiff_t rows) {
    int outside = texts < 0 || starts[0] < 0 || starts[texts] > tokens;
    for (ptrdiff_t i = 0; i < texts; i++) outside |= starts[i] > starts[i + 1];
    for (ptrdiff_t i = 0; i < tokens; i++) outside |= ids[i] < 0 || ids[i] >= rows;
    return !outside;
}

ENTRY(means, "biniqI") {
    const ptrdiff_t dim = n[0], texts = size[3] - 1;
    if (dim < 1 || texts < 0 || size[0] != size[1] * dim || size[4] != texts * dim)
        return "means: sizes differ";
    if (!are_sound(b[3], texts, b[2], size[2], size[1]))
        return "means: a piece that the table has not";
    chosen->means(b[0], b[1], dim, b[2], b[3], texts, b[4]);
    return NULL;
}

ENTRY(path, "iqqqQQBnnnnn") {
    const float *scores = b[0];
    const double line = n[3], gap = n[4];
    const ptrdiff_t first = n[0], stop = n[1], rows = n[2], columns = size[5];
    const ptrdiff_t pad = rows < 2 ? -1 : size[4] / rows - columns;
    ptrdiff_t cells = 0;
    Band band = {b[1], b[2], b[3], b[4], b[5], columns, pad, rows, size[3] / 2};
    int bad = size[2] != size[1] || first < 0 || stop < first || stop > size[1] || pad < 0 ||
              size[4] != rows * (columns + pad) || band.kinds < 1 || band.kinds > 61;
    for (ptrdiff_t i = 0; !bad && i < band.kinds; i++) {
        const int64_t *lines = band.lines + 2 * i;
        bad = lines[0] < 1 || lines[0] >= rows || lines[1] < 0 || lines[1] > pad;
    }
    for (ptrdiff_t i = 0; !bad && i < stop; i++) {
        bad = band.starts[i] < (i ? band.starts[i - 1] : 0) || band.stops[i] < band.starts[i] ||
              band.stops[i] > columns;
        cells += i < first ? 0 : band.stops[i] - band.starts[i];
    }
    if (bad || size[0] != cells * (band.kinds - 1) || size[6] != cells)
        return "path: a cell outside of the band";
    for (ptrdiff_t i = 0; i < size[0]; i++) bad |= !(scores[i] - scores[i] == 0);
    if (bad || !(line - line + gap - gap == 0)) return "path: no finite score";
    chosen->path(scores, &band, first, stop, line, gap, b[6]);
    return NULL;
}

ENTRY(matching, "nnhiqiIInhiqiII") {
    const ptrdiff_t dim = n[0], pairs = size[2] - 1;
    const int has_less = size[3] > 0;
    Tokens sides[2];
    for (int i = 0; i < 2; i++, b += 6, size += 6) {
        const ptrdiff_t width = n[1 + i], tokens = size[1];
        sides[i] = (Tokens){b[0], width, b[1], b[2], has_less ? b[3] : NULL, b[4], b[5]};
        int is_sound = dim > 0 && width >= dim && size[0] % width == 0 && tokens <= MOST_TOKENS &&
                       pairs >= 0 && size[2] - 1 == pairs && size[3] == has_less * tokens &&
                       size[4] == tokens && size[5] == tokens && !sides[i].starts[0] &&
                       sides[i].starts[pairs] == tokens;
        if (!is_sound || !are_sound(b[2], pairs, b[1], tokens, size[0] / width))
            return "matching: a token that the table has not";
    }
    return chosen->matching(&sides[0], &sides[1], dim, pairs) ? NULL : NO_MEMORY;
}

/* Whether whole numbers are outside of `lowest` to `rows` - 1. */
static int are_outside(const int64_t *ids, ptrdiff_t count, ptrdiff_t rows, int64_t lowest) {
    int outside = 0;
    for (ptrdiff_t i = 0; i < count; i++) outside |= ids[i] < lowest || ids[i] >= rows;
    return outside;
}

/* Whether `numbers` are enough for the rows of one side. */
static int is_full(ptrdiff_t numbers, ptrdiff_t count, ptrdiff_t dim, int is_left) {
    ptrdiff_t width = is_left ? 1 : chosen->wide;
    if (dim < 1 || dim > MOST_WIDTH) return 0;
    return numbers >= (count + width - 1) / width * width * (dim + dim % 2);
}

ENTRY(quantise, "bnnqnH") {
    const int is_half = n[1] != 0, is_left = n[2] != 0;
    const ptrdiff_t dim = n[0], row = dim * (is_half ? 2 : 4);
    if (!is_full(size[2], size[1], dim, is_left) || size[0] % row) return "quantise: sizes differ";
    if (are_outside(b[1], size[1], size[0] / row, 0)) return "quantise: a row that is not there";
    int are_unit = chosen->quantise(b[0], is_half, dim, b[1], size[1], is_left, b[2]);
    return are_unit ? NULL : "these are not unit vectors";
}

ENTRY(scan, "hqQhqQnn") {
    const ptrdiff_t dim = n[0];
    Side sides[2];
    for (int i = 0; i < 2; i++, b += 3, size += 3) {
        const ptrdiff_t count = size[1], keys = size[2];
        if (!is_full(size[0], count, dim, i == 0) || !count || keys < count || keys % count)
            return "scan: sizes differ";
        sides[i] = (Side){b[0], b[1], b[2], count, keys / count};
    }
    chosen->scan(sides[0], sides[1], dim, n[1] != 0);
    return NULL;
}

ENTRY(merge, "Qnqq") {
    const ptrdiff_t kept = n[0], count = size[1], keys = size[2];
    if (kept < 1 || (count ? keys % count || keys / count != kept : keys))
        return "merge: sizes differ";
    if (are_outside(b[1], count, size[0] / kept, 0)) return "merge: a row that is not there";
    chosen->merge(b[0], b[1], count, kept, b[2]);
    return NULL;
}

ENTRY(cosines, "hhqnI") {
    const ptrdiff_t dim = n[0], cells = size[2];
    const ptrdiff_t rows = dim > 0 ? size[0] / dim : 0;
    if (dim < 1 || size[3] != cells || (cells && (!rows || cells % rows)))
        return "cosines: sizes differ";
    if (are_outside(b[2], cells, size[1] / dim, -1)) return "cosines: a row that is not there";
    chosen->cosines(b[0], b[1], dim, b[2], rows, rows ? cells / rows : 0, b[3]);
    return NULL;
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
