"""What a search keeps while it runs and leaves when it ends: in memory, or in a folder.

All that it takes up again was hashed when it was written: what is not what it was is told to the
`Watch`, and made again.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.atomic import remove, replacing
from xmine.files.digests import NOBODY, Watch, digest, digest_of, read_sealed, sealed
from xmine.files.npy import header, open_matrix
from xmine.knn.neighbours import COMPLETE, FILES, Neighbours, found_in
from xmine.options import dump_tables

_BYTES_AT_ONCE = 2**20
_STATE = re.compile(r"searched-(\d{1,18})\.keys")
# What only a search that goes on needs.
_UNFINISHED = ("searched-*.keys", "*.npy.partial", ".*.partial", "approximate.*", "*.faiss")


def finished(folder: Path, mark: str = "", watch: Watch = NOBODY) -> Neighbours | None:
    """Open what a search has left that came to its end; None where there is none that is whole.

    Args:
        folder: of the search.
        mark: what was searched, and how; what another search has left is no use.
        watch: told of the first file that is not what it was; then all of them are gone.

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
    try:
        for path in [path for pattern in patterns for path in folder.glob(pattern)]:
            remove(path)
    except OSError as error:
        raise FileError(f"{folder}: cannot be written: {error.strerror}") from error


class SearchFiles:
    """Arrays of zeros to be filled; with a folder they are files, and found again after a kill.

    A file is mapped only when all its bytes were written once, so that a full disk is an error
    where it is made and not a signal where it is filled.

    Attributes:
        folder: where they are.
        mark: what is searched, and how.
        watch: told of what is not what it was.
        fresh: whether an array had to be made; if so, no saved state can be used.
    """

    def __init__(self, folder: Path | None, mark: str = "", watch: Watch = NOBODY) -> None:
        """Make the folder if it is not there."""
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FileError(f"{folder}: cannot be made: {error.strerror}") from error
        self.folder, self.mark, self.watch = folder, mark, watch
        self.fresh = folder is None

    def array(self, name: str, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
        """Open or make an array [rows, columns] to be filled in place; all before `restore`."""
        if self.folder is None:
            return np.zeros(shape, dtype)
        path = self.folder / f"{name}.npy.partial"
        whole = self.folder / f"{name}.npy"
        try:
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
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from error
        self.fresh = True
        with replacing(path) as partial, partial.open("wb") as file:
            self.forget()  # the state of the array that is gone
            file.write(header(np.dtype(dtype), *shape))
            left = shape[0] * shape[1] * np.dtype(dtype).itemsize
            while left:
                left -= file.write(bytes(min(left, _BYTES_AT_ONCE)))
        array = open_matrix(path, dtype, "r+")
        if array is None:
            raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
        return array

    def save(self, rows: int, keys: NDArray[np.int64], proof: str) -> None:
        """Keep the state after `rows` sources, in place of that before.

        Args:
            rows: how far the search is.
            keys: what it has found.
            proof: a digest of what else it will go on with.
        """
        assert self.folder is not None
        before = self._states()
        with (
            replacing(self.folder / f"searched-{rows}.keys") as partial,
            partial.open("wb") as file,
        ):
            file.write(keys.data)
            file.write(self._seal(rows, keys, proof))
        for path in before:
            path.unlink()

    def _seal(self, rows: int, keys: NDArray[np.int64], proof: str) -> bytes:
        return digest(self.mark, str(rows), proof, keys.data).encode()

    def restore(self, keys: NDArray[np.int64], proof: Callable[[int], str]) -> int:
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
        """Give the results; in a folder, first name what is whole and remove what is not needed."""
        if self.folder is None:
            targets, target_cosines, sources, source_cosines = arrays
            return Neighbours(targets, target_cosines, sources, source_cosines, index, recall)
        try:
            for name in FILES:
                (self.folder / f"{name}.npy.partial").replace(self.folder / f"{name}.npy")
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be written: {error.strerror}") from error
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
    """Tell how many rows a state has seen; 0 of what is none."""
    named = _STATE.fullmatch(path.name)
    return int(named[1]) if named else 0
