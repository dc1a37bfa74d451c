"""AmericasNLI: premises and hypotheses in ten languages that few texts are written in.

Ebrahimi et al. (2022); and the English training pairs of MultiNLI, as XNLI distributes them.
"""

from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, one_of, read_columns, read_headed
from xmine.evaluation.readers.xnli import LABELS, NliPair

_PLACES = ("americasnli", "AmericasNLI", "americasnli/data/anli_final", "data/anli_final")
_MULTINLI = "to learn from: train-en.tsv as XTREME has it, or multinli.train.en.tsv of XNLI-MT"


def read_americasnli(data: DataFolder) -> tuple[dict[str, list[NliPair]], str]:
    """Read the test split, or else dev: language -> pairs, and the name of the split."""
    path, split = _find(data)
    found: dict[str, list[NliPair]] = {}
    for where, row in read_headed(path, ("language", "premise", "hypothesis", "label")):
        label = one_of(row["label"], LABELS, where, "label of AmericasNLI")
        pairs = found.setdefault(row["language"], [])
        pairs.append(NliPair(str(len(pairs) + 1), row["premise"], row["hypothesis"], label))
    if not found:
        raise FileError(f"{path}: has a head and no lines")
    return found, split


def _find(data: DataFolder) -> tuple[Path, str]:
    for split in ("test", "dev"):
        for name in (f"{split}.tsv", f"{split}/anli.{split}.tsv"):
            try:
                return data.holding(name, _PLACES, "AmericasNLI, test.tsv or dev.tsv") / name, split
            except MissingData as error:
                missing = error
    raise missing


def read_multinli(data: DataFolder) -> list[NliPair]:
    """Read the English training pairs in either of two formats.

    XNLI-MT has a head and writes `contradictory`; XTREME has neither.
    """
    try:
        folder = data.holding("train-en.tsv", ("xnli",), f"XNLI {_MULTINLI}")
        rows = ((where, columns[:3]) for where, columns in read_columns(folder / "train-en.tsv", 3))
    except MissingData:
        name = "multinli.train.en.tsv"
        places = ("xnli", "XNLI-MT-1.0/multinli", "xnli/XNLI-MT-1.0/multinli")
        folder = data.holding(name, places, f"XNLI {_MULTINLI}")
        head = ("premise", "hypo", "label")
        rows = (
            (where, [row[each] for each in head]) for where, row in read_headed(folder / name, head)
        )
    pairs = []
    for number, (where, (premise, hypothesis, label)) in enumerate(rows, start=1):
        known = "contradiction" if label == "contradictory" else label
        truth = one_of(known, LABELS, where, "label of MultiNLI")
        pairs.append(NliPair(str(number), premise, hypothesis, truth))
    if not pairs:
        raise FileError(f"{folder}: MultiNLI has no lines")
    return pairs
