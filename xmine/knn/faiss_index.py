"""A FAISS factory string and the rows of two matrices -> an index that can be searched.

One training serves both sides: the encoder puts both languages in one space, and the recall is that
of an index trained on its own side (0.981 and 0.982 of 200,000 rows with the same probes).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from xmine.errors import OptionError
from xmine.knn.centroids import train_centroids
from xmine.knn.cosines import Floats, Rows, Vectors, widen
from xmine.knn.duplicates import Side
from xmine.knn.inverted_lists import Tick

# FAISS has no types that tell its classes apart.
Index = Any

# Training rows for each list: FAISS warns below 39, and k-means on 64 gives no better lists.
_POINTS_PER_LIST = 40
_FEWEST_POINTS = 20_000
_ROWS_AT_ONCE = 16384
# Lists kept in fp16 or fp32 lose nothing, and their k best are the k best; a few more are kept for
# the last bits of the product. Lossy codes rank worse: more are kept.
_SPARE = 4
_SHORTLIST = 10
# Beyond this, a graph is slower than lists.
_WIDEST_BEAM = 4096
# Of HNSW: an id of 4 bytes for each neighbour in the lowest layer, and some in those above.
_BYTES_PER_LINK = 4.6
_BYTES_PER_ID = 8
_HINT = (
    "see the index factory of FAISS; for example --index IVF4096,SQfp16, or --index auto or exact"
)


def make_index(factory: str, dim: int) -> Index:
    """Make the empty index of a factory string.

    Raises:
        OptionError: FAISS does not know it, or it cannot compare by inner product.
    """
    import faiss

    try:
        index = faiss.index_factory(dim, factory, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        why = str(error).rpartition(": ")[2]
        raise OptionError(f"--index {factory}: FAISS refuses it: {why}", _HINT) from error
    ivf = _lists_in(index)
    if index.metric_type != faiss.METRIC_INNER_PRODUCT or (ivf is not None and not ivf.nlist):
        raise OptionError(f"--index {factory}: it cannot search by inner product", _HINT)
    if ivf is not None:
        ivf.cp.min_points_per_centroid = 1  # FAISS need not warn of few rows
        ivf.cp.max_points_per_centroid = _POINTS_PER_LIST
        if _is_half(ivf):
            ivf.by_residual = False  # vectors are fp16: without residuals nothing is lost
    return index


def _lists_in(index: Index) -> Index:
    """Give the inverted lists of an index, perhaps behind a transform; None if it has none."""
    import faiss

    ivf = faiss.try_extract_index_ivf(index)
    return ivf and faiss.downcast_index(ivf)


def _is_half(index: Index) -> bool:
    import faiss

    return isinstance(index, faiss.IndexIVFScalarQuantizer) and (
        index.sq.qtype == faiss.ScalarQuantizer.QT_fp16
    )


def count_lists(factory: str, dim: int) -> int:
    """Count the inverted lists of a factory string; 0 of an index without."""
    index = make_index(factory, dim)  # held: its parts are freed with it
    ivf = _lists_in(index)
    return 0 if ivf is None else int(ivf.nlist)


def check_lists(factory: str, dim: int, rows: int) -> int:
    """Count the inverted lists; raise OptionError if a side has fewer rows."""
    if (lists := count_lists(factory, dim)) > rows:
        raise OptionError(
            f"--index {factory}: {lists:,} lists for {rows:,} rows", "--index auto, or fewer lists"
        )
    return lists


def centroids_of(index: Index) -> Floats | None:
    """Give the centroids of lists of fp16 or fp32 vectors, [lists, dim]; None of other indexes.

    Nothing but the centroids is needed of such an index: its lists would be copies of the rows.
    """
    import faiss

    store: Index = faiss.downcast_index(index)
    if not _has_plain_lists(index) or not _loses_nothing(store):
        return None
    quantizer = faiss.downcast_index(store.quantizer)
    centroids: Floats = quantizer.reconstruct_n(0, int(quantizer.ntotal))
    return centroids


def _has_plain_lists(index: Index) -> bool:
    """Tell whether rows go to their lists as they are, and centroids are searched one by one."""
    import faiss

    store = faiss.downcast_index(index)
    return isinstance(store, faiss.IndexIVF) and isinstance(
        faiss.downcast_index(store.quantizer), faiss.IndexFlat
    )


@contextmanager
def _same_bytes(index: Index) -> Iterator[None]:
    """Have FAISS make an index on one thread, unless any number of threads makes the same.

    A graph (HNSW) depends on which thread adds its row first; a transform (PCA, OPQ) in its last
    bits on how many threads multiply. Plain lists depend on neither.
    """
    if _has_plain_lists(index):
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def centroids_in(factory: str, dim: int) -> int:
    """Count the lists of fp16 or fp32 vectors of a factory string; 0 of other indexes."""
    index = make_index(factory, dim)
    return 0 if centroids_of(index) is None else int(index.nlist)


def _loses_nothing(store: Index) -> bool:
    import faiss

    return _is_half(store) or isinstance(store, (faiss.IndexFlat, faiss.IndexIVFFlat))


def index_bytes(rows: int, dim: int, factory: str) -> int:
    """Estimate the memory of an index over `rows` rows when it is filled.

    Of lists of fp16 or fp32 vectors only the centroids are made.
    """
    import faiss

    if lists := centroids_in(factory, dim):
        return 4 * dim * lists
    index = make_index(factory, dim)
    ivf = _lists_in(index)
    if ivf is not None:
        return int(rows * (ivf.code_size + _BYTES_PER_ID) + ivf.nlist * 4 * ivf.d)
    core: Index = faiss.downcast_index(index)
    if not hasattr(core, "hnsw"):
        return int(rows * index.sa_code_size())
    links = core.hnsw.nb_neighbors(0) * _BYTES_PER_LINK
    return int(rows * (faiss.downcast_index(core.storage).sa_code_size() + links))


def training_bytes(dim: int, factory: str) -> int:
    """Estimate the memory of training: the sample, in float32; in float16 for centroids alone."""
    bytes_each = 2 if centroids_in(factory, dim) else 4
    return bytes_each * dim * max(_FEWEST_POINTS, _POINTS_PER_LIST * count_lists(factory, dim))


def train_index(factory: str, sides: tuple[Vectors, Vectors], tick: Tick) -> Index:
    """Train an index on rows of both sides, evenly spaced.

    Centroids of lists of fp16 or fp32 vectors are ours (`train_centroids`); FAISS trains the rest.

    Raises:
        OptionError: the factory string cannot be used for so few rows.
    """
    dim = sides[0].shape[1]
    lists = check_lists(factory, dim, min(map(len, sides)))
    index = make_index(factory, dim)
    wanted = max(_FEWEST_POINTS, _POINTS_PER_LIST * lists) // 2
    rows = [np.linspace(0, len(s) - 1, min(len(s), wanted)).astype(np.int64) for s in sides]
    ours = centroids_of(index) is not None
    sample = np.empty((sum(map(len, rows)), dim), dtype=np.float16 if ours else np.float32)
    sample[: len(rows[0])] = sides[0][rows[0]]
    sample[len(rows[0]) :] = sides[1][rows[1]]
    if ours:
        index.quantizer.add(train_centroids(sample, lists, tick))
        return index
    try:
        with _same_bytes(index):
            index.train(sample)
    except RuntimeError as error:
        why = str(error).rpartition(": ")[2]
        raise OptionError(
            f"--index {factory}: it cannot be trained on {len(sample):,} rows: {why}", _HINT
        ) from error
    return index


class SearchedIndex:
    """An index over one side that FAISS searches, and how far it looks.

    Attributes:
        knob: the setting that raises the recall: `probes`, `efSearch`, or empty.
        most: the highest setting.
        name: the factory string.
    """

    def __init__(self, index: Index, factory: str) -> None:
        """Take a filled index, or one that is to be filled."""
        import faiss

        self.index, self.name = index, factory
        store: Index = faiss.downcast_index(index)
        self.knob, self.most = "", 1
        if (ivf := _lists_in(index)) is not None:
            self.knob, self.most = "probes", int(ivf.nlist)
        elif hasattr(store, "hnsw"):
            self.knob, self.most = "efSearch", _WIDEST_BEAM
            store = faiss.downcast_index(store.storage)
        self._lossless = _loses_nothing(store)

    def shortlist(self, k: int) -> int:
        """Tell how many rows to ask for so that the k best are among them."""
        return k + _SPARE if self._lossless else _SHORTLIST * k

    def fill(self, side: Side, tick: Tick) -> None:
        """Have it hold all distinct rows of a side, added in chunks."""
        self.index.reset()
        with _same_bytes(self.index):
            for start in range(0, len(side), _ROWS_AT_ONCE):
                part = side.rows(start, min(start + _ROWS_AT_ONCE, len(side)))
                self.index.add(widen(part, np.empty(part.shape, dtype=np.float32)))
                tick()

    def search(self, queries: Floats, k: int, setting: int, tick: Tick) -> Rows:
        """Find rows near to queries [queries, dim]: int64 [queries, k]; -1 where too few."""
        import faiss

        if self.knob:
            knob = "nprobe" if self.knob == "probes" else self.knob
            faiss.ParameterSpace().set_index_parameter(self.index, knob, setting)
        rows: Rows = self.index.search(queries, k)[1]
        tick()
        return rows
