"""What a search keeps while it runs and leaves when it ends: in memory, or in a folder."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files import replacing
from xmine.neighbours import COMPLETE, FILES, Neighbours, found_in

_BYTES_AT_ONCE = 2**20


class SearchFiles:
    """Arrays of zeros to be filled; with a folder they are files, and found again after a kill.

    A file is mapped only when all its bytes were written once, so that a full disk is an error
    where it is made and not a signal where it is filled.

    Attributes:
        fresh: whether an array had to be made; if so, no saved state can be used.
    """

    def __init__(self, folder: Path | None) -> None:
        """Make the folder if it is not there."""
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FileError(f"{folder}: cannot be made: {error.strerror}") from error
        self.folder = folder
        self.fresh = folder is None

    def array(self, name: str, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
        """Open or make an array [rows, columns] to be filled in place; all before `restore`."""
        if self.folder is None:
            return np.zeros(shape, dtype)
        path = self.folder / f"{name}.npy.partial"
        try:
            whole = self.folder / f"{name}.npy"
            if whole.exists():  # it was killed between its last steps
                whole.replace(path)
            array = np.load(path, mmap_mode="r+", allow_pickle=False)
            if array.shape == shape and array.dtype == dtype:
                return array  # type: ignore[no-any-return]
        except (FileNotFoundError, ValueError, EOFError):
            pass  # not there, or cut short: made again
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from error
        self.fresh = True
        with replacing(path) as partial, partial.open("wb") as file:
            for state in self._states():  # of the array that is gone
                state.unlink()
            facts = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, facts)
            left = shape[0] * shape[1] * np.dtype(dtype).itemsize
            while left:
                left -= file.write(bytes(min(left, _BYTES_AT_ONCE)))
        return np.load(path, mmap_mode="r+", allow_pickle=False)  # type: ignore[no-any-return]

    def save(self, rows: int, keys: NDArray[np.int64]) -> None:
        """Keep the state after `rows` sources, in place of that before."""
        assert self.folder is not None
        before = self._states()
        with (
            replacing(self.folder / f"searched-{rows}.keys") as partial,
            partial.open("wb") as file,
        ):
            file.write(keys.data)
        for path in before:
            path.unlink()

    def restore(self, keys: NDArray[np.int64]) -> int:
        """Fill `keys` with the saved state and give the number of sources it has seen, or 0."""
        rows = {int(path.stem.partition("-")[2]): path for path in self._states()}
        if not rows:
            return 0
        newest = rows[max(rows)]
        if newest.stat().st_size != keys.nbytes:
            return 0
        keys[:] = np.memmap(newest, dtype=keys.dtype, mode="r", shape=keys.shape)
        return max(rows)

    def _states(self) -> list[Path]:
        return list(self.folder.glob("searched-*.keys")) if self.folder else []

    def clean(self) -> None:
        """Remove what a finished search does not need."""
        assert self.folder is not None
        for pattern in ("searched-*.keys", "*.npy.partial", ".*.partial"):
            for path in self.folder.glob(pattern):
                path.unlink()

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
        with replacing(self.folder / COMPLETE) as partial:
            reached = "" if recall is None else f"recall = {recall}\n"
            partial.write_text(f'index = "{index}"\nk = {k}\n{reached}', encoding="utf-8")
        self.clean()
        found = found_in(self.folder)
        assert found is not None
        return found
