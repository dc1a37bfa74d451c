"""A step: tasks that make arrays, in sealed files that are named by what they were made of.

A file is `NAME-KEY-START.npy`: KEY is a digest of all that the rows depend on, START the first row.
So a file that is there and whole is the one that is wanted: a killed run makes the missing files, a
changed file is made again alone, other options have other names, and any engine goes on with the
work of another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from xmine.files import scratch
from xmine.files.atomic import remove, writing
from xmine.files.cache import Cache
from xmine.files.digests import digest
from xmine.files.sealed_arrays import open_sealed, opened_sealed, write_all_sealed
from xmine.progress import silent
from xmine.run.local import LocalEngine
from xmine.run.task import Engine, Task

_KEY = 16  # hexadecimal digits of a key in a name

# The files of a step, as many for each task as the step has arrays.
Files = list[tuple[Path, ...]]
# Digests and numbers of all that the rows of a step depend on, or those from one to before another.
MadeOf = Sequence[str] | Callable[[int, int], Sequence[str]]
# The rows of an array, or of several, block by block.
Blocks = Iterable[tuple[NDArray[Any], ...]]
# Makes the rows from one to before another. For an engine of other processes this is a function of
# a module or a partial of one, with plain data.
Maker = Callable[[int, int], Blocks]


@dataclass(frozen=True, slots=True)
class Base:
    """The lines that a run began with, see `run.pair_steps`: a digest, and how many they are.

    `whole` is the digest of all lines that there are now.
    """

    key: str = ""
    sizes: tuple[int, int] = (0, 0)
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """Makes the arrays of steps, or finds them.

    Attributes:
        folder: of the files.
        engine: runs the tasks, unless a step says otherwise.
        changed: called with each file that has changed since it was written.
        used: the names of the files that steps have made or found, and that outlast a sweep.
        kept: whether the files are for later runs, too.
        base: of the run.
    """

    folder: Path
    engine: Engine = field(default_factory=LocalEngine)
    changed: Callable[[Path], None] = silent
    used: set[str] = field(default_factory=set)
    kept: bool = True
    base: Base = Base()

    def files(self, names: Iterable[str], made_of: MadeOf, rows: range) -> Files:
        """Name the files of a step: `rows` begins, ends and steps as its tasks do."""
        found, names = [], list(names)
        for start in rows:
            parts = made_of(start, _stop(rows, start)) if callable(made_of) else made_of
            end = f"{digest(*parts)[:_KEY]}-{start}.npy"
            found.append(tuple(self.folder / f"{name}-{end}" for name in names))
        return found

    def plan(
        self,
        arrays: Mapping[str, DTypeLike],
        made_of: MadeOf,
        rows: range,
        maker: Maker,
        task: Callable[..., Task] = Task,
        *,
        cache: Cache | None = None,
        keep: bool = True,
    ) -> tuple[Files, list[Task]]:
        """Name the files of a step, and the tasks that make those that are missing or changed.

        A row of `arrays` depends on all that `made_of` names; `rows` are those that tasks begin
        with, see `files`. `task` makes a task, with facts besides function, arguments, files and
        weight; `cache` may have files of other runs; `keep` says whether the files outlast a sweep.
        """
        files, missing = self.files(arrays, made_of, rows), []
        with writing(self.folder):
            if self.folder.is_file():
                self.changed(self.folder)
                remove(self.folder)
            self.folder.mkdir(exist_ok=True)
        for start, paths in zip(rows, files, strict=True):
            if keep:
                self.used.update(path.name for path in paths)
            if not self._are_whole(paths, arrays.values(), cache):
                given = maker, start, _stop(rows, start), *paths
                missing.append(task(make_part, given, paths, float(_stop(rows, start) - start)))
        return files, missing

    def make(
        self,
        arrays: Mapping[str, DTypeLike],
        made_of: MadeOf,
        rows: range,
        maker: Maker,
        tick: Callable[[int], None] = silent,
        *,
        task: Callable[..., Task] = Task,
        engine: Engine | None = None,
        prepare: Callable[[], object] = lambda: None,
        cache: Cache | None = None,
        keep: bool = True,
    ) -> Files:
        """Make the files of a step that are missing or changed; name all.

        `tick` is told the number of rows that are done; `engine` takes the place of the usual one;
        `prepare` is called before tasks run, if any has to. For the others see `plan`.
        """
        files, missing = self.plan(arrays, made_of, rows, maker, task, cache=cache, keep=keep)
        total = rows.stop - rows.start
        if missing:
            prepare()
            left = sum(each.weight for each in missing)
            (engine or self.engine).run(
                missing, lambda share: tick(int(total - left + share * left))
            )
            if cache:
                cache.keep([path for each in missing for path in each.makes])
        tick(total)
        return files

    def put(self, name: str, array: NDArray[Any]) -> Path:
        """Write an array for tasks in other processes; a sweep removes the file."""

        def give(start: int, stop: int) -> Blocks:
            yield (array,)

        made_of = [digest(np.ascontiguousarray(array).data.cast("B") if array.size else b"")]
        arrays, here = {name: array.dtype}, LocalEngine()
        ((path,),) = self.make(arrays, made_of, range(1), give, engine=here, keep=False)
        return path

    def _are_whole(
        self, paths: Sequence[Path], types: Iterable[DTypeLike], cache: Cache | None
    ) -> bool:
        """Tell whether the files of a task are there, here or in the cache."""
        types = list(types)
        missing = [each for each in zip(paths, types, strict=True) if not self._is_whole(*each)]
        if missing and cache:
            cache.take([path for path, _ in missing])
            missing = [each for each in missing if not self._is_whole(*each)]
            cache.drop([path for path, _ in missing])
        return not missing

    def _is_whole(self, path: Path, dtype: DTypeLike) -> bool:
        """Tell whether a file is there as it was written; delete one that is not."""
        if open_sealed(path, dtype) is not None:
            return True
        if path.exists():
            self.changed(path)
        remove(path)
        return False

    def sweep(self) -> None:
        """Delete the files that no step of this run used, or that none asked to keep."""
        for path in self.folder.glob("*"):
            if path.name not in self.used:
                remove(path)


def make_part(maker: Maker, start: int, stop: int, *paths: Path) -> None:
    """Make some rows of arrays, and write each array to a file of its own."""
    write_all_sealed(paths, maker(start, stop))


def _stop(rows: range, start: int) -> int:
    return min(start + rows.step, rows.stop)


def parts_of(files: Files, at: int, dtype: DTypeLike) -> list[NDArray[Any]]:
    """Open one array of a step, a part for each task."""
    return [opened_sealed(paths[at], dtype) for paths in files]


def joined(files: Files, at: int, dtype: DTypeLike) -> NDArray[Any]:
    """Read one array of a step, whole: its only file, or a scratch array."""
    parts = parts_of(files, at, dtype)
    return parts[0] if len(parts) == 1 else scratch.joined(parts)


def python_task(weight: float, *, apart: bool) -> Callable[..., Task]:
    """Make tasks of Python code, in which a row takes `weight`; `apart`: processes may run them."""

    def task(function: Any, given: Any, makes: Any, rows: float) -> Task:  # noqa: ANN401
        return Task(function, given, makes, weight * rows, in_python=apart)

    return task
