"""Change one line of the code at a time, and see whether a test fails.

    python bench/mutations.py [AREA ...] [--only TEXT] [--sample N] [--jobs N]

`mutations/AREA.toml` beside this file lists the changes by the file of the code: what stands there
once, what stands there instead, and why no test can notice where none can. The tests that must
notice stand at the top; an `[[of]]` may name others. No file is changed: a process reads the
changed source in place of the file, and so does every process that its tests start.
`results/mutations.json` has the counts of each area and the changes that no test noticed.
"""

import argparse
import contextlib
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
AREAS = HERE / "mutations"
RESULTS = HERE / "results" / "mutations.json"
# Loaded once, so that each change costs its tests alone; nothing of xmine may be among them.
LIBRARIES = ("torch", "transformers", "scipy.stats", "sklearn", "polars", "typer.testing")
PATIENCE = 5.0  # times as long as without a change, and a minute: what takes longer hangs
# What a process runs, and finds as `sitecustomize` in each that it starts.
SUBSTITUTE = """
import importlib.machinery as machinery

plain = machinery.SourceFileLoader.get_code


def get_code(self, name):
    if self.path == {path!r}:
        return compile({source!r}, self.path, "exec", dont_inherit=True)
    return plain(self, name)


machinery.SourceFileLoader.get_code = get_code
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one line, or of a few.

    Attributes:
        area: the file of `mutations/` that lists the change.
        file: of the code, from the top of the repository.
        before, after: code that stands there once, and what takes its place.
        tests: test files, or tests, that must notice.
        equivalent: why no test can; empty where one must.
    """

    area: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    equivalent: str = ""

    def problem(self) -> str:
        """Say why the change cannot be tried, if so."""
        source = (ROOT / self.file).read_text(encoding="utf-8")
        missing = [name for name in self.tests if name.startswith("tests") and not is_there(name)]
        if missing:
            return f"{self.area}.toml: no test {missing[0]}"
        if (times := source.count(self.before)) != 1:
            return f"{self.area}.toml: stands {times} times in {self.file}: {self.before!r}"
        try:
            compile(self.changed(), self.file, "exec", dont_inherit=True)
        except SyntaxError as error:
            return f"{self.area}.toml: {error}: {self.after!r}"
        return ""

    def changed(self) -> str:
        """Give the source of the file with the change."""
        source = (ROOT / self.file).read_text(encoding="utf-8")
        return source.replace(self.before, self.after)


def main() -> None:
    """Try the changes that are asked for, and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = sorted(path.stem for path in AREAS.glob("*.toml"))
    parser.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(known))
    parser.add_argument("--only", default="", help="changes whose file or code has this text")
    parser.add_argument("--sample", type=int, default=0, help="try so many of each area, drawn")
    parser.add_argument("--jobs", type=int, default=1, help="changes tried side by side")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what a test said")
    arguments = parser.parse_args()
    lists = {area: read(area) for area in arguments.areas or known}
    changes = [
        each
        for found in lists.values()
        for each in drawn(found, arguments.sample)
        if arguments.only in f"{each.file} {each.before} {each.after}"
    ]
    if problems := [problem for each in changes if (problem := each.problem())]:
        sys.exit("\n".join(problems))
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    usual = {tests: without_change(tests) for tests in {each.tests for each in changes}}
    noticed: dict[Change, bool] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        tried = pool.map(
            lambda each: fails(each, usual[each.tests], verbose=arguments.verbose), changes
        )
        for change, fell in zip(changes, tried, strict=True):
            noticed[change] = fell
            told = "noticed" if fell else "equivalent" if change.equivalent else "NOT NOTICED"
            print(f"{told:12} {change.area}  {change.file}  {line_of(change)}", flush=True)
    if not arguments.only:
        write(noticed, {area: len(found) for area, found in lists.items()})
    print(*summary(noticed), sep="\n")


def read(area: str) -> list[Change]:
    """Read the changes of one area.

    Raises:
        SystemExit: a change stands there twice.
    """
    table = tomllib.loads((AREAS / f"{area}.toml").read_text(encoding="utf-8"))
    found = []
    for each in table["of"]:
        tests = tuple(each.get("tests", table["tests"]))
        for before, after, *why in each["changes"]:
            found.append(Change(area, each["file"], before, after, tests, *why))
    if len(set(found)) < len(found):
        sys.exit(f"{area}.toml lists a change twice")
    return found


def is_there(test: str) -> bool:
    """Tell whether a test, or a file of tests, is there under its name."""
    file, *names = test.split("::")
    if not (ROOT / file).exists():
        return False
    source = (ROOT / file).read_text(encoding="utf-8")
    return all(f"def {name.partition('[')[0]}(" in source for name in names)


def drawn(changes: list[Change], count: int) -> list[Change]:
    """Draw so many changes, always the same ones; 0: all."""
    if not 0 < count < len(changes):
        return changes
    rows = sorted(random.Random(1).sample(range(len(changes)), count))
    return [changes[row] for row in rows]


def line_of(change: Change) -> str:
    """Show a change on one line."""
    before, after = (" ".join(each.split()) for each in (change.before, change.after))
    return f"{before}  ->  {after or '(nothing)'}"


def without_change(tests: tuple[str, ...]) -> float:
    """Time tests on the code as it stands.

    Raises:
        SystemExit: one fails.
    """
    began = time.monotonic()
    if runs(tests, "", "", limit=3600, verbose=True):
        sys.exit(f"a test fails without any change: {' '.join(tests)}")
    return time.monotonic() - began


def fails(change: Change, usual: float, *, verbose: bool) -> bool:
    """Tell whether a test fails with the change, or hangs."""
    path = str(ROOT / change.file)
    limit = 60 + PATIENCE * usual
    return runs(change.tests, path, change.changed(), limit=limit, verbose=verbose)


def runs(tests: tuple[str, ...], path: str, source: str, *, limit: float, verbose: bool) -> bool:
    """Run tests in a process of its own that reads `source` for `path`; tell whether one fails."""
    with tempfile.TemporaryDirectory() as folder:
        process = os.fork()
        if not process:
            try:
                run_here(tests, path, source, Path(folder))
            finally:  # it must not go on as its parent
                traceback.print_exc()
                os._exit(99)
        until = time.monotonic() + limit
        while not (ended := os.waitpid(process, os.WNOHANG))[0]:
            if time.monotonic() > until:
                os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return True
            time.sleep(0.05)
        failed = os.waitstatus_to_exitcode(ended[1]) != 0
        if failed and verbose:
            print((Path(folder) / "said").read_text(encoding="utf-8", errors="replace"))
    return failed


def run_here(tests: tuple[str, ...], path: str, source: str, folder: Path) -> None:
    """Become a process that runs tests, and end with their exit code."""
    os.setpgid(0, 0)
    said = os.open(folder / "said", os.O_CREAT | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.chdir(ROOT)
    hook = SUBSTITUTE.format(path=path, source=source)
    (folder / "sitecustomize.py").write_text(hook, encoding="utf-8")
    own = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ |= {"PYTHONPATH": os.pathsep.join(own), "OMP_NUM_THREADS": "1"}
    exec(hook, {})
    code = pytest.main([*tests, "-x", "-q", "--assert=plain", "-p", "no:cacheprovider"])
    sys.stdout.flush()
    os._exit(int(code))


def summary(noticed: dict[Change, bool]) -> list[str]:
    """Count by area: changes that a test noticed, of those that one must."""
    lines = []
    for area in [*dict.fromkeys(each.area for each in noticed), "all"]:
        own = [each for each in noticed if area in (each.area, "all")]
        tried = [each for each in own if noticed[each] or not each.equivalent]
        fell = sum(noticed[each] for each in tried)
        share = f"{fell / max(1, len(tried)):.1%}"
        lines.append(
            f"{area:12} {fell:4} of {len(tried):4} noticed, {share}; "
            f"{len(own) - len(tried)} equivalent"
        )
    return lines


def write(noticed: dict[Change, bool], listed: dict[str, int]) -> None:
    """Put the counts of each area into the record, and leave those of others as they are."""
    from xmine.evaluation.reports.record import record, write_record  # not before the last process

    areas = json.loads(RESULTS.read_text(encoding="utf-8"))["areas"] if RESULTS.exists() else {}
    for area in {each.area for each in noticed}:
        own = [each for each in noticed if each.area == area]
        left = [each for each in own if not noticed[each]]
        areas[area] = {
            "listed": listed[area],
            "tried": len(own),
            "noticed": len(own) - len(left),
            "equivalent": [
                {"file": each.file, "change": line_of(each), "why": each.equivalent}
                for each in left
                if each.equivalent
            ],
            "not noticed": [
                {"file": each.file, "change": line_of(each)} for each in left if not each.equivalent
            ],
        }
    write_record(RESULTS, record({"areas": dict(sorted(areas.items()))}))


if __name__ == "__main__":
    main()
