"""The state of a running search and its result: in memory, or in a folder.

All files were hashed when they were written. The `Watch` hears of files that have changed, and they
are made again.
"""

import json
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.atomic import remove, replacing, writing
from xmine.files.digests import NOBODY, Watch, digest, digest_of, read_sealed, sealed
from xmine.files.npy import header, open_matrix, opened
from xmine.knn.cosines import Rows
from xmine.knn.neighbours import COMPLETE, FILES, Neighbours, found_in
from xmine.options import dump_tables

_BYTES_AT_ONCE = 2**20
_STATE = re.compile(r"searched-(\d{1,18})\.keys")
# The state is saved after as many seconds; or later, when saving is a fiftieth of the work since.
_SAVE_SECONDS, _SAVE_SHARE = 1.0, 0.02
_FACTS_FILE = "approximate.state"
# What only an unfinished search needs.
_UNFINISHED = (
    "searched-*.keys",
    "*.npy.partial",
    ".*.partial",
    "approximate.*",
    "*.faiss",
    "tile-*",
)


def finished(folder: Path, mark: str = "", watch: Watch = NOBODY) -> Neighbours | None:
    """Open the result of a finished search; None where there is none, or a part is missing.

    Args:
        folder: of the search.
        mark: names vectors and method; the result of another search is deleted.
        watch: told of the first file that has changed; then all files are deleted.

    Raises:
        FileError: a file cannot be deleted.
    """
    path = folder / COMPLETE
    if not path.exists():
        return None
    text = read_sealed(path)
    facts = {} if text is None else tomllib.loads(text)
    known = facts.get("digests", {}) if facts.get("of") == mark else {}
    files = [f"{name}.npy" for name in FILES]
    wrong = [name for name in files if digest_of(folder / name) != known.get(name, "none")]
    if wrong:
        watch.changed(folder / wrong[0] if known else path)
        _remove(folder, *files, COMPLETE, *_UNFINISHED)
        return None
    _remove(folder, *_UNFINISHED)  # it was killed between its last steps
    return found_in(folder)


def _remove(folder: Path, *patterns: str) -> None:
    with writing(folder):
        for path in [path for pattern in patterns for path in folder.glob(pattern)]:
            remove(path)


class SearchFiles:
    """Arrays of zeros to be filled; with a folder they are files, and a later run finds them.

    A file is mapped only when all its bytes were written once, so that a full disk is an error
    where it is made and not a signal where it is filled.

    Attributes:
        folder: of the files; None for memory.
        mark: names vectors and method.
        watch: told of files that have changed.
        fresh: whether an array had to be made; if so, no saved state can be used.
    """

    def __init__(self, folder: Path | None, mark: str = "", watch: Watch = NOBODY) -> None:
        if folder is not None:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.mark, self.watch = folder, mark, watch
        self.fresh = folder is None
        self._saved, self._pause = time.monotonic(), _SAVE_SECONDS

    def array(self, name: str, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
        """Open or make an array [rows, columns] to be filled in place; all before `restore`."""
        if self.folder is None:
            return np.zeros(shape, dtype)
        path = self.folder / f"{name}.npy.partial"
        whole = self.folder / f"{name}.npy"
        with writing(path):
            if whole.is_file():  # it was killed between its last steps
                whole.replace(path)
            elif whole.exists():
                remove(whole)
            array = open_matrix(path, dtype, "r+")
            if array is not None and array.shape == shape:
                return array
            if path.exists():
                self.watch.changed(path)
                remove(path)
        self.fresh = True
        with replacing(path) as partial, partial.open("wb") as file:
            self.forget()  # the state of the array that is gone
            file.write(header(np.dtype(dtype), *shape))
            left = shape[0] * shape[1] * np.dtype(dtype).itemsize
            while left:
                left -= file.write(bytes(min(left, _BYTES_AT_ONCE)))
        return opened(path, dtype, "r+")

    def save(self, rows: int, keys: Rows, proof: Callable[[int], str]) -> None:
        """Replace the saved state, if that is due.

        Args:
            rows: how many steps of the search are done.
            keys: the best cells so far.
            proof: gives a digest of the other files that `rows` steps have written.
        """
        began = time.monotonic()
        if self.folder is None or began - self._saved <= self._pause:
            return
        before = self._states()
        with (
            replacing(self.folder / f"searched-{rows}.keys") as partial,
            partial.open("wb") as file,
        ):
            file.write(keys.data)
            file.write(self._seal(rows, keys, proof(rows)))
        for path in before:
            path.unlink()
        self._saved = time.monotonic()
        self._pause = max(_SAVE_SECONDS, (self._saved - began) / _SAVE_SHARE)

    def _seal(self, rows: int, keys: Rows, proof: str) -> bytes:
        return digest(self.mark, str(rows), proof, keys.data).encode()

    def restore(self, keys: Rows, proof: Callable[[int], str]) -> int:
        """Fill `keys` with the saved state and give the number of sources it has seen, or 0."""
        states = self._states()
        if not states:
            return 0
        newest = states[-1]
        rows = _rows_of(newest)
        try:
            size, seal = newest.stat().st_size, b""
            if newest.is_file() and size > keys.nbytes:
                keys[:] = np.memmap(newest, keys.dtype, "r", 0, keys.shape)
                with newest.open("rb") as file:
                    file.seek(keys.nbytes)
                    seal = file.read()
        except (OSError, ValueError) as error:
            raise FileError(f"{newest}: cannot be read: {error}") from error
        if seal == self._seal(rows, keys, proof(rows)):
            return rows
        self.watch.changed(newest)
        self.forget()
        return 0

    def forget(self) -> None:
        """Begin anew."""
        if self.folder is not None:
            _remove(self.folder, "searched-*.keys")

    def _states(self) -> list[Path]:
        """List the states that were saved, the newest last."""
        paths = self.folder.glob("searched-*.keys") if self.folder else ()
        return sorted(filter(_rows_of, paths), key=_rows_of)

    def finish(
        self, arrays: list[NDArray[Any]], k: int, index: str = "exact", recall: float | None = None
    ) -> Neighbours:
        """Give the results; in a folder, first name whole files and delete the state."""
        if self.folder is None:
            targets, target_cosines, sources, source_cosines = arrays
            return Neighbours(targets, target_cosines, sources, source_cosines, index, recall)
        with writing(self.folder):
            for name in FILES:
                (self.folder / f"{name}.npy.partial").replace(self.folder / f"{name}.npy")
        reached = "" if recall is None else f"recall = {recall}\n"
        text = f'index = "{index}"\nk = {k}\n{reached}of = "{self.mark}"\n\n'
        digests = {f"{name}.npy": digest_of(self.folder / f"{name}.npy") for name in FILES}
        text += dump_tables({"digests": digests})
        with replacing(self.folder / COMPLETE) as partial:
            partial.write_text(sealed(text), encoding="utf-8")
        _remove(self.folder, *_UNFINISHED)
        found = found_in(self.folder)
        assert found is not None
        return found


def _rows_of(path: Path) -> int:
    """Tell how many rows a saved state has seen; 0 for any other file."""
    named = _STATE.fullmatch(path.name)
    return int(named[1]) if named else 0


class SearchState:
    """Settings and finished steps of an approximate search (`known`); a later run finds them."""

    def __init__(self, files: SearchFiles) -> None:
        """Read the facts, unless the search starts afresh or the file has changed."""
        self.known: dict[str, Any] = {}
        self.files = files
        self._path = None if files.folder is None else files.folder / _FACTS_FILE
        if self._path and self._path.exists():
            text = read_sealed(self._path, files.mark)
            if text is None:
                files.watch.changed(self._path)
            if text is None or files.fresh:
                self.forget()
            else:
                self.known = json.loads(text)

    def note(self, **facts: float | str) -> None:
        """Add facts, and write all of them."""
        self.known |= facts
        self.save()

    def save(self) -> None:
        """Write the facts."""
        if self._path:
            with replacing(self._path) as partial:
                text = sealed(json.dumps(self.known), self.files.mark)
                partial.write_text(text, encoding="utf-8")

    def has(self, path: Path) -> bool:
        """Tell whether a file is there, with the digest that was noted; delete it if not."""
        known = self.known.get(path.name)
        if path.is_file() and known is not None and digest_of(path) == known:
            return True
        if path.exists():
            if known is not None or not path.is_file():
                self.files.watch.changed(path)
            remove(path)
        return False

    def forget(self) -> None:
        """Begin anew: what was found depends on files that are gone."""
        self.known.clear()
        self.files.forget()
        if self._path:
            remove(self._path)
