"""Two matrices -> the k nearest rows both ways; what every search returns, and how it scores.

Whatever a search computes with, its cosines come from `rescored`, and equal cosines go to the lower
row number; so they depend on neither blocks, threads nor device.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.npy import open_matrix
from xmine.options import load_toml

# What a folder holds of a search; COMPLETE is written last.
FILES = ("targets", "target_cosines", "sources", "source_cosines")

COMPLETE = "search.toml"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest targets of each source and the nearest sources of each target.

    Attributes:
        targets: int64 [sources, k], rows of the target matrix, nearest first.
        target_cosines: float32 [sources, k].
        sources: int64 [targets, k], rows of the source matrix, nearest first.
        source_cosines: float32 [targets, k].
        index: what found them, for people.
        recall: the share of the true ones among them, as measured; None where all are.

    k is at most the number of rows on the other side. The arrays may be read-only files in memory.
    """

    targets: NDArray[np.int64]
    target_cosines: NDArray[np.float32]
    sources: NDArray[np.int64]
    source_cosines: NDArray[np.float32]
    index: str = "exact"
    recall: float | None = None

    def swapped(self) -> "Neighbours":
        """Make the targets the sources."""
        return Neighbours(
            self.sources,
            self.source_cosines,
            self.targets,
            self.target_cosines,
            self.index,
            self.recall,
        )

    def first(self, k: int) -> "Neighbours":
        """Keep the k nearest of each row."""
        return Neighbours(
            self.targets[:, :k],
            self.target_cosines[:, :k],
            self.sources[:, :k],
            self.source_cosines[:, :k],
            self.index,
            self.recall,
        )


def found_in(folder: Path) -> Neighbours | None:
    """Open what a search left in a folder, memory-mapped; None if it is not complete.

    Digests are compared by `xmine.knn.state_files.finished`, and not here.

    Raises:
        FileError: the search is complete but a file is missing or broken.
    """
    path, again = folder / COMPLETE, f"remove {folder} and search again"
    if not path.exists():
        return None
    facts, arrays = load_toml(path), []
    index, recall = facts.get("index"), facts.get("recall")
    if not isinstance(index, str):
        raise FileError(f"{path}: no 'index'", again)
    for name in FILES:
        path = folder / f"{name}.npy"
        array = open_matrix(path, np.float32 if name.endswith("cosines") else np.int64)
        if array is None:
            raise FileError(f"{path}: {'broken' if path.exists() else 'no such file'}", again)
        arrays.append(array)
    targets, target_cosines, sources, source_cosines = arrays
    for name, ids, cosines, others in (
        ("targets", targets, target_cosines, sources),
        ("sources", sources, source_cosines, targets),
    ):
        there = ids.shape == cosines.shape and ids.size
        if not there or not 0 <= ids.min() <= ids.max() < len(others):
            raise FileError(f"{folder / name}.npy: neighbours that are not there", again)
    recall = recall if isinstance(recall, float) else None
    return Neighbours(targets, target_cosines, sources, source_cosines, index, recall)
