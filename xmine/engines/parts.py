"""Rows of a matrix, written in fixed blocks: by this process, or by tasks, some blocks each.

A task leaves its rows in a part, a file beside the matrix, and parts are joined in their order.
Which rows a task makes depends on sizes alone, so that any engine goes on with the work.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.engines.task import Engine, Task
from xmine.files.atomic import writing
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import MatrixWriter, opened, parts_folder, writing_matrix
from xmine.files.sealed_arrays import drop_changed, opened_sealed, write_all_sealed

# The rows of a matrix, or of several, block by block.
Blocks = Iterable[tuple[NDArray[Any], ...]]
# Makes the rows from one to before another: a function of a module or a partial of one, plain data,
# so that another process can have it.
Maker = Callable[[int, int], Blocks]


@dataclass(frozen=True, slots=True)
class Parts:
    """How tasks make rows.

    Attributes:
        engine: runs the tasks.
        maker: makes the rows of each.
        rows: of a task, whole blocks.
        gpus: devices that a task needs.
    """

    engine: Engine
    maker: Maker
    rows: int
    gpus: float = 0.0

    def join(
        self,
        folder: Path,
        done: int,
        total: int,
        writers: Sequence[MatrixWriter],
        write: Callable[..., None],
        tick: Callable[[int], None],
    ) -> None:
        """Let tasks make rows, and write the rows.

        Args:
            folder: of the parts.
            done, total: the rows from one to before the other are made.
            writers: of the matrices.
            write: called with the rows of each matrix, for one task after the other.
            tick: called with the number of rows that are done.
        """
        with writing(folder):
            folder.mkdir(exist_ok=True)
        tasks = []
        for start in range(done, total, self.rows):
            stop = min(start + self.rows, total)
            paths = tuple(folder / f"{each.path.stem}-{start}.npy" for each in writers)
            for path, each in zip(paths, writers, strict=True):
                drop_changed(path, each.dtype)
            given = self.maker, start, stop, *paths
            tasks.append(Task(make_part, given, paths, float(stop - start), self.gpus))
        self.engine.run(tasks, lambda share: tick(done + int(share * (total - done))))
        for task in tasks:
            parts = zip(task.makes, writers, strict=True)
            write(*(opened_sealed(path, each.dtype) for path, each in parts))
            for path in task.makes:
                path.unlink()


def make_part(maker: Maker, start: int, stop: int, *paths: Path) -> None:
    """Make some rows of matrices, and write each matrix to a file of its own."""
    write_all_sealed(paths, maker(start, stop))


def wanted(parts: Parts | None, folder: Path) -> Parts | None:
    """Give the parts if tasks are to make the rows: also where an engine has begun so."""
    return parts if parts and (parts.engine.shared or folder.exists()) else None


def write_rows(
    path: Path,
    width: int,
    dtype: type[np.generic],
    total: int,
    size: int,
    make: Callable[[int], Iterable[NDArray[Any]]],
    mark: str = "",
    tick: Callable[[int], None] = lambda rows: None,
    watch: Watch = NOBODY,
    parts: Parts | None = None,
) -> NDArray[Any]:
    """Write rows to a file in fixed blocks, behind those that a killed process left; open it.

    Args:
        path, width, dtype, mark, watch: of the matrix, see `writing_matrix`.
        total: rows of the matrix.
        size: rows of a block.
        make: gives the blocks from a row on; the last one may have fewer rows.
        tick: called with the number of rows that are done.
        parts: how tasks make the rows, if tasks can.
    """
    folder = parts_folder(path, mark)
    tasks = wanted(parts, folder)
    step = tasks.rows if tasks else size
    with writing_matrix(path, width, dtype, mark, watch) as writer:
        writer.cut(min(writer.rows, total) // step * step)
        if writer.rows % step:
            writer.cut(0)
        if tasks:
            tasks.join(folder, writer.rows, total, [writer], writer.write, tick)
        else:
            for block in make(writer.rows):
                writer.write(block)
                tick(writer.rows)
    return opened(path, dtype)
