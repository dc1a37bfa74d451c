"""BUCC's files made of toy sentences, and its figures; what its tests share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BuccOptions
from xmine.evaluation.result import Result
from xmine.evaluation.retrieval.bucc import evaluate_bucc

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]
Write = Callable[..., Path]


def measure(encoder: SentenceEncoder, data: Path, **options: Any) -> Result:
    return evaluate_bucc(encoder, DataFolder(data), BuccOptions(**options))


def figure(result: Result, row: str, metric: str = "f1") -> float:
    found = result.figure(row, metric)
    assert found is not None
    return found


def writer(toy_files: ToyFiles, tmp_path: Path) -> Write:
    """Write the toy files as a split of BUCC: 60 sentences a side, 30 of them translations."""
    english, chinese, gold = toy_files

    def split(stem: str, pair: str = "zh-en", wrong: bool = False) -> Path:
        folder = tmp_path / "data" / "bucc2018"
        place = folder / stem
        place.parent.mkdir(parents=True, exist_ok=True)
        for language, file in zip(pair.split("-"), (chinese, english), strict=True):
            lines = file.read_text(encoding="utf-8").splitlines()
            rows = [f"{language}-{number}\t{text}\n" for number, text in enumerate(lines, 1)]
            Path(f"{place}.{language}").write_text("".join(rows), encoding="utf-8")
        first, second = pair.split("-")
        pairs = [
            f"{first}-{target}\t{second}-{(source + 7) % 60 + 1 if wrong else source}\n"
            for source, target in sorted(gold)
        ]
        Path(f"{place}.gold").write_text("".join(pairs))
        return tmp_path / "data"

    return split
