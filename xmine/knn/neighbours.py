"""The result of every search: the k nearest rows of two matrices, both ways.

All cosines come from `exact_cosines`, and equal cosines go to the lower row number; so results
depend on neither blocks, threads nor device.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError, XmineError
from xmine.files import scratch
from xmine.files.atomic import remove, replacing, writing
from xmine.files.digests import read_sealed, sealed
from xmine.files.npy import open_matrix
from xmine.files.sealed_arrays import open_sealed, write_all_sealed
from xmine.options import load_toml
from xmine.progress import silent

# Arrays in the folder of a search; COMPLETE is written last.
FILES = ("targets", "target_cosines", "sources", "source_cosines")

COMPLETE = "search.toml"

Kept = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest targets of each source and the nearest sources of each target.

    Attributes:
        targets: int64 [sources, k], rows of the target matrix, nearest first.
        target_cosines: float32 [sources, k].
        sources: int64 [targets, k], rows of the source matrix, nearest first.
        source_cosines: float32 [targets, k].
        index: the kind of search, for people.
        recall: the measured share of true neighbours; None for an exact search.

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
        sides = self.sources, self.source_cosines, self.targets, self.target_cosines
        return Neighbours(*sides, self.index, self.recall)

    def first(self, k: int) -> "Neighbours":
        """Keep the k nearest of each row."""
        return replace(self, **{name: getattr(self, name)[:, :k] for name in FILES})

    def without(
        self, x: NDArray[np.int64], y: NDArray[np.int64]
    ) -> "tuple[Neighbours, Kept, Kept]":
        """Take pairs away from rows and columns, each of which keeps k - 1 neighbours.

        Args:
            x, y: int64 [pairs], rows of both sides, none of them twice.

        Returns:
            The neighbours that are left, and their places among these: int64 [sources, k - 1] and
            [targets, k - 1]. A row without a pair loses its last neighbour.
        """
        rows = _places_left(self.targets, x, y)
        columns = _places_left(self.sources, y, x)
        places = zip(FILES, (rows, rows, columns, columns), strict=True)
        kept: Any = {name: np.take_along_axis(getattr(self, name), at, 1) for name, at in places}
        return replace(self, **kept), rows, columns


def _places_left(ids: Kept, own: Kept, others: Kept) -> Kept:
    """Find the first k - 1 places of each row [rows, k] that do not hold its pair."""
    partner = np.full(len(ids), -1)
    partner[own] = others
    places: Kept = np.argsort(ids == partner[:, None], axis=1, kind="stable")[:, :-1]
    return places


def keep(found: Neighbours, folder: Path, mark: str) -> Neighbours:
    """Write the result of a search, and open the files; `mark` names vectors and settings."""
    remove(folder)
    with writing(folder):
        folder.mkdir()
    for name in FILES:
        rows = getattr(found, name)
        blocks = ((rows[some],) for some in scratch.slices(len(rows)))
        write_all_sealed([folder / f"{name}.npy"], blocks, f"{mark} {name}")
    reached = "" if found.recall is None else f"recall = {found.recall}\n"
    text = f'index = "{found.index}"\nk = {found.targets.shape[1]}\n{reached}mark = "{mark}"\n'
    with replacing(folder / COMPLETE) as partial:
        partial.write_text(sealed(text, mark), encoding="utf-8")
    kept = found_in(folder)
    assert kept is not None
    return kept


def kept_in(folder: Path, mark: str, changed: Callable[[Path], None] = silent) -> Neighbours | None:
    """Open the result of the search of this name; None where a part is missing or was changed."""
    if read_sealed(folder / COMPLETE, mark) is None:
        return None
    for name in FILES:
        path, kind = folder / f"{name}.npy", np.float32 if "cosines" in name else np.int64
        if open_sealed(path, kind, f"{mark} {name}") is None:
            changed(path)
            return None
    return found_in(folder)


def mark_in(folder: Path) -> str:
    """Read the name of the search in a folder; empty where none is complete."""
    said = None
    with suppress(XmineError):  # no such file, or a broken one
        said = load_toml(folder / COMPLETE).get("mark")
    return said if isinstance(said, str) else ""


def found_in(folder: Path) -> Neighbours | None:
    """Open the result of a search, memory-mapped; None if the search is not complete.

    Digests are compared by `kept_in`, and not here.

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
