"""Two matrices -> most of the nearest rows both ways, by inverted lists.

`xmine.knn.centroids` makes the lists, and `xmine.knn.ivf_search` multiplies them. A sample of
queries chooses how far a search looks for a wanted recall; other queries measure the recall.
"""

import math

import numpy as np

from xmine.errors import OptionError
from xmine.knn.centroids import train_centroids, training_rows, training_sample
from xmine.knn.cosines import Vectors
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import MEMORY
from xmine.knn.index_name import count_lists
from xmine.knn.inverted_lists import number_type
from xmine.knn.ivf_search import search_lists
from xmine.knn.neighbours import Neighbours
from xmine.knn.recall import CHOSEN_ON, MEASURED_ON, RECALL, measure_recall
from xmine.knn.rescoring import directions
from xmine.progress import Progress, Report, silent

# Multiply-adds of an exact search up to which `--index auto` stays exact: 82,900 rows a side of the
# embedded encoder. Lists save a third of the time of a run there, and nothing at 35,000 rows
# (docs/explanation/scale.md). GPUs are not measured.
EXACT_UP_TO = {"cpu": 2**41, "cuda": 2**52}
# Lists that are shorter than this are not worth their centroids; with fewer lists than that,
# searching everything is as good.
_FEWEST_PER_LIST = 40
_FEWEST_LISTS = 64

# For `multiply_adds`: rounds of k-means, and how long steps take, as a multiple of their products
# (for each number of a row, of as many multiply-adds), measured for 100,000 and a million rows of
# 512 dimensions.
_ITERATIONS = 12
# Lists that a row probes where the sides have so many rows, and the power by which they grow:
# measured 23, 40 and 46 for 100,000, 300,000 and a million generated lines.
_PROBED, _PROBED_OF, _PROBED_GROW = 24, 100_000, 0.3
# Every row has room for as many lists as the widest row of a sample probes: 4.5 to 5.3 times the
# mean of 20,000 to a million generated lines, and the mean of other texts may be higher.
_WIDEST = 6
_ASSIGNING, _MULTIPLYING, _RESCORING = 2.2, 1.7, 700


def choose_index(sources: int, targets: int, dim: int, wanted: str, device: str = "cpu") -> str:
    """Tell how to search: `exact`, or by which lists; from sizes and device alone.

    `auto` is exact up to `EXACT_UP_TO` multiply-adds (sources x targets x dim), or where a side has
    fewer than 2,560 rows; beyond, by inverted lists: 2 sqrt(n) of them, n being the
    geometric mean of the sides, as a power of two, and at least 40 rows in each on average.

    Args:
        sources, targets: rows of each side.
        dim: width of the vectors.
        wanted: `auto`, `exact` or lists, such as `IVF4096,SQfp16`.
        device: `cpu`, or a device of torch such as `cuda`.

    Raises:
        OptionError: there is no such index, or a side has fewer rows than lists.
    """
    if wanted not in ("auto", "exact"):
        if (lists := count_lists(wanted)) > (rows := min(sources, targets)):
            raise OptionError(
                f"--index {wanted}: {lists:,} lists for {rows:,} rows",
                "--index auto, or fewer lists",
            )
        return wanted
    most = EXACT_UP_TO["cpu" if device == "cpu" else "cuda"]
    if wanted == "exact" or sources * targets * dim <= most:
        return "exact"
    lists = 2 ** round(math.log2(2 * (sources * targets) ** 0.25))
    while lists * _FEWEST_PER_LIST > min(sources, targets):
        lists //= 2
    return f"IVF{lists},SQfp16" if lists >= _FEWEST_LISTS else "exact"


def multiply_adds(sources: int, targets: int, dim: int, index: str) -> float:
    """Count multiply-adds that take as long as a search, by lists for a recall of 0.98."""
    if not (lists := count_lists(index)):
        return float(sources) * targets * dim
    of_a_row = CHOSEN_ON + MEASURED_ON + _ASSIGNING * lists + _RESCORING
    training = training_rows(lists) * dim * lists * _ITERATIONS
    multiplying = _MULTIPLYING * 2 * sources * (targets / lists) * _probes(sources, targets, lists)
    return training + ((sources + targets) * of_a_row + multiplying) * dim


def training_bytes(dim: int, index: str) -> int:
    """Estimate the memory of training: the sample in float16, and the centroids in float32."""
    lists = count_lists(index)
    return dim * (2 * training_rows(lists) + 4 * lists)


def list_bytes(sources: int, targets: int, index: str) -> int:
    """Estimate the bytes of the lists that all rows probe; 0 of an exact search."""
    if not (lists := count_lists(index)):
        return 0
    most = math.ceil(min(lists, _WIDEST * _probes(sources, targets, lists)))
    return (sources + targets) * np.dtype(number_type(lists)).itemsize * most


def _probes(sources: int, targets: int, lists: int) -> float:
    """Estimate how many lists a row probes on average, for a recall of 0.98."""
    mean: float = _PROBED * (math.sqrt(sources * targets) / _PROBED_OF) ** _PROBED_GROW
    return min(lists, mean)


def search_approximate(
    source: Vectors,
    target: Vectors,
    k: int,
    *,
    index: str,
    recall: float = RECALL,
    memory: int = MEMORY,
    report: Report = silent,
) -> Neighbours:
    """Find most of the k nearest rows in both directions by cosine.

    Cosines are those of an exact search; a row's neighbours are the best that were found. The
    result is the same on any number of threads, and on any processor unless more than four rows
    that met come within `rescoring.error` of the k-th.

    Anonymous memory is the largest of: the training sample (`training_bytes`), `memory` for exact
    searches of samples, and 300 to 600 MB for probes sorted by lists, blocks and what is found in
    them. Equal rows cost as much as in an exact search. Results come on top, and while lists are
    searched 8 (k + 4) bytes of every row, and 2 for each list that the widest row of a sample
    probes (4 from 65,536 lists on); scratch files hold these in a run.

    Args:
        source, target, k: as in `search_exact`.
        index: lists, no more than a side has rows, such as `IVF4096,SQfp16`.
        recall: share of the k nearest that is to be found, in each direction.
        memory: bytes for blocks of exact searches.
        report: called with the share that is done, as rows of both sides.

    Returns:
        The neighbours; their `recall` is the lower one of both directions, as measured on queries
        that did not choose the number of lists.
    """
    ways = directions(Distinct(source), Distinct(target), k)
    total = len(source) + len(target)

    def tick(share: float) -> None:
        report(Progress("searching", int(total * share), total))

    tick(0.0)
    lists = count_lists(index)
    sample = training_sample(source, target, lists)
    centroids = train_centroids(sample, lists, lambda: tick(0.0))
    del sample
    probes = search_lists(*ways, centroids, recall, memory, tick)
    reached = min(measure_recall(way, memory, lambda: tick(1.0)) for way in ways)
    tick(1.0)
    return Neighbours(
        *ways[0].result(), *ways[1].result(), f"{index}, {probes:.0f} probes", reached
    )
