"""How a command ended, and the files that a command leaves."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """How a command ended, and which files of its folder it added, changed or took away.

    The estimate, or the pace of training, stands apart from what else went to stderr.
    """

    code: int
    out: str
    err: str
    touched: set[str]
    estimate: str = ""

    @property
    def rows(self) -> list[list[str]]:
        """The pairs on stdout, below the names of their columns."""
        return [row.split("\t") for row in self.out.split("\n")[1:-1]]


Command = Callable[..., Ended]
Toy = tuple[Path, Path, set[tuple[int, int]]]  # two texts, and the lines of both that are pairs


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"a folder"
        for path in folder.rglob("*")
    }


def without_summary(files: dict[str, bytes]) -> dict[str, bytes]:
    """Leave out the summary of a run, which names inputs as they were given, and its digest."""
    others = {name: data for name, data in files.items() if name != "summary.json"}
    lines = others["run.toml"].splitlines(keepends=True)
    others["run.toml"] = b"".join(
        line for line in lines if not line.startswith((b"# blake2b ", b'"summary.json"'))
    )
    return others
