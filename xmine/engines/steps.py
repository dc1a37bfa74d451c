"""A step: tasks that make arrays, in sealed files that are named by what they were made of.

A file is `NAME-KEY-START.npy`: KEY is a digest of all that the rows depend on, START the first row.
So a file that is there and whole is the one that is wanted: a killed run makes the missing files, a
changed file is made again alone, other options have other names, and any engine goes on with the
work of another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from xmine.engines.local import LocalEngine
from xmine.engines.parts import Maker, make_part
from xmine.engines.task import Engine, Task
from xmine.files import scratch
from xmine.files.atomic import remove, writing
from xmine.files.digests import NOBODY, Watch, digest
from xmine.files.sealed_arrays import open_sealed, opened_sealed

_KEY = 16  # hexadecimal digits of a key in a name

# The files of a step, as many for each task as the step has arrays.
Files = list[tuple[Path, ...]]


def unheard(done: int) -> None:
    """Hear nothing of rows that are done."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Makes the arrays of steps, or finds them.

    Attributes:
        folder: of the files.
        engine: runs the tasks, unless a step says otherwise.
        watch: told of files that have changed since they were written.
        used: the names of the files that steps have made or found.
    """

    folder: Path
    engine: Engine = field(default_factory=LocalEngine)
    watch: Watch = NOBODY
    used: set[str] = field(default_factory=set)

    def files(self, name: str, made_of: Sequence[str], rows: range, arrays: int = 1) -> Files:
        """Name the files of a step: `rows` begins, ends and steps as its tasks do."""
        key = digest(*made_of)[:_KEY]
        of = [""] if arrays == 1 else [f"-{at}" for at in range(arrays)]
        return [tuple(self.folder / f"{name}{at}-{key}-{start}.npy" for at in of) for start in rows]

    def plan(
        self,
        name: str,
        made_of: Sequence[str],
        rows: range,
        maker: Maker,
        types: Sequence[DTypeLike],
        task: Callable[..., Task] = Task,
    ) -> tuple[Files, list[Task]]:
        """Name the files of a step, and the tasks that make those that are missing or changed.

        Args:
            name: of the step.
            made_of: digests and numbers of all that the rows depend on.
            rows: the first row of each task, see `files`.
            maker: makes the rows from one to before another, see `parts.Maker`.
            types: of the numbers of each array.
            task: makes a task, with facts besides function, arguments, files and weight.
        """
        files, missing = self.files(name, made_of, rows, len(types)), []
        with writing(self.folder):
            if self.folder.is_file():
                self.watch.changed(self.folder)
                remove(self.folder)
            self.folder.mkdir(exist_ok=True)
        for start, paths in zip(rows, files, strict=True):
            self.used.update(path.name for path in paths)
            whole = [self._is_whole(*each) for each in zip(paths, types, strict=True)]
            if not all(whole):
                stop = min(start + rows.step, rows.stop)
                given = maker, start, stop, *paths
                missing.append(task(make_part, given, paths, float(stop - start)))
        return files, missing

    def make(
        self,
        name: str,
        made_of: Sequence[str],
        rows: range,
        maker: Maker,
        types: Sequence[DTypeLike],
        tick: Callable[[int], None] = unheard,
        *,
        engine: Engine | None = None,
        prepare: Callable[[], object] = lambda: None,
    ) -> Files:
        """Make the files of a step that are missing or changed; name all.

        Args:
            name, made_of, rows, maker, types: see `plan`.
            tick: called with the number of rows that are done.
            engine: runs the tasks, in place of the usual one.
            prepare: called before tasks run.
        """
        files, missing = self.plan(name, made_of, rows, maker, types)
        total = rows.stop - rows.start
        if missing:
            prepare()
            left = sum(each.weight for each in missing)
            (engine or self.engine).run(
                missing, lambda share: tick(int(total - left + share * left))
            )
        tick(total)
        return files

    def _is_whole(self, path: Path, dtype: DTypeLike) -> bool:
        """Tell whether a file is there as it was written; delete one that is not."""
        if open_sealed(path, dtype) is not None:
            return True
        if path.exists():
            self.watch.changed(path)
        remove(path)
        return False

    def sweep(self) -> None:
        """Delete the files of other options, which no step of this run has asked for."""
        for path in self.folder.glob("*"):
            if path.name not in self.used:
                remove(path)


def joined(files: Files, at: int, dtype: DTypeLike) -> NDArray[Any]:
    """Read one array of a step, whole: its only file, or a scratch array."""
    if len(files) == 1:
        return opened_sealed(files[0][at], dtype)
    parts = [opened_sealed(paths[at], dtype) for paths in files]
    whole, start = scratch.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype), 0
    for part in parts:
        whole[start : start + len(part)] = part
        start += len(part)
    return whole


def rows_of(paths: Sequence[Path], size: int, rows: NDArray[np.int64]) -> NDArray[Any]:
    """Read some float32 rows of files of `size` rows each: [..., columns] for rows [...]."""
    flat = rows.ravel()
    places, found = flat // size, None
    for place in np.unique(places).tolist():
        here = places == place
        some = opened_sealed(paths[place], np.float32)[flat[here] - place * size]
        if found is None:
            found = np.empty((len(flat), some.shape[1]), np.float32)
        found[here] = some
    assert found is not None
    return found.reshape(*rows.shape, -1)


def python_task(weight: float, *, apart: bool) -> Callable[..., Task]:
    """Make tasks of Python code, in which a row takes `weight`; may they run in processes?"""

    def task(function: Any, given: Any, makes: Any, rows: float) -> Task:  # noqa: ANN401
        return Task(function, given, makes, weight * rows, in_python=apart)

    return task
