"""AmericasNLI, XNLI and PAWS-X as tasks of XRETE, learned from English pairs.

AmericasNLI (Ebrahimi et al., 2022): premises and hypotheses in ten languages that few texts are
written in. It and XNLI are learned from MultiNLI, as XNLI or XTREME distributes its pairs.
"""

from collections.abc import Callable, Sequence

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, one_of, read_columns, read_headed
from xmine.evaluation.readers.labelled_pairs import (
    PAWSX_LABELS,
    XNLI_LABELS,
    ByLanguage,
    LabelledPair,
    read_pawsx,
    read_xnli,
)
from xmine.evaluation.transfer.folds import pair_examples
from xmine.evaluation.transfer.tasks import Task, to_learn_from

_PLACES = ("americasnli", "AmericasNLI", "americasnli/data/anli_final", "data/anli_final")
_MULTINLI = "to learn from: train-en.tsv as XTREME has it, or multinli.train.en.tsv of XNLI-MT"

_Read = Callable[[DataFolder, str], ByLanguage]


def americasnli_task(data: DataFolder) -> Task:
    """Read AmericasNLI: learned from MultiNLI, tuned on XNLI's English dev where that is there."""
    tests, split = _americasnli(data)
    with to_learn_from():
        train = _multinli(data)
    dev, split = _english_dev(read_xnli, data), f"MultiNLI train in English; AmericasNLI {split}"
    return _task("americasnli", XNLI_LABELS, train, dev, tests, split)


def xnli_task(data: DataFolder) -> Task:
    """Read XNLI: learned from MultiNLI, tuned on English dev, measured on test, or else on dev."""
    tests, split, dev = _test_or_dev(read_xnli, data)
    with to_learn_from():
        train = _multinli(data)
    return _task("xnli", XNLI_LABELS, train, dev, tests, f"MultiNLI train in English; XNLI {split}")


def pawsx_task(data: DataFolder) -> Task:
    """Read PAWS-X: learned from English train; otherwise as XNLI."""
    tests, split, dev = _test_or_dev(read_pawsx, data)
    with to_learn_from():
        train = read_pawsx(data, "train")["en"]
    split = f"PAWS-X train in English; PAWS-X {split}"
    return _task("pawsx", PAWSX_LABELS, train, dev, tests, split)


def _task(
    name: str,
    classes: Sequence[str],
    train: Sequence[LabelledPair],
    dev: Sequence[LabelledPair],
    tests: ByLanguage,
    split: str,
) -> Task:
    return Task(
        name,
        "pair",
        classes,
        pair_examples(train),
        pair_examples(dev) if dev else None,
        {language: pair_examples(pairs) for language, pairs in tests.items()},
        f"learned from {split}",
    )


def _test_or_dev(read: _Read, data: DataFolder) -> tuple[ByLanguage, str, Sequence[LabelledPair]]:
    """Read test with English dev to tune on, or else dev with nothing to tune on."""
    try:
        return read(data, "test"), "test", _english_dev(read, data)
    except MissingData:
        return read(data, "dev"), "dev", ()


def _english_dev(read: _Read, data: DataFolder) -> Sequence[LabelledPair]:
    try:
        return read(data, "dev").get("en", ())
    except MissingData:
        return ()


def _americasnli(data: DataFolder) -> tuple[ByLanguage, str]:
    """Read the test split, or else dev: language -> pairs, and the name of the split."""
    names = [name for x in ("test", "dev") for name in (f"{x}.tsv", f"{x}/anli.{x}.tsv")]
    what = "AmericasNLI, test.tsv or dev.tsv"
    folder, name = data.holding_first(dict.fromkeys(names, _PLACES), what)
    found: dict[str, list[LabelledPair]] = {}
    for where, row in read_headed(folder / name, ("language", "premise", "hypothesis", "label")):
        label = one_of(row["label"], XNLI_LABELS, where, "label of AmericasNLI")
        pairs = found.setdefault(row["language"], [])
        pairs.append(LabelledPair(str(len(pairs) + 1), row["premise"], row["hypothesis"], label))
    if not found:
        raise FileError(f"{folder / name}: has a head and no lines")
    return found, name[: -len(".tsv")].rpartition(".")[2]


def _multinli(data: DataFolder) -> list[LabelledPair]:
    """Read English training pairs: XNLI-MT has a head and `contradictory`, XTREME has neither."""
    headed, plain = "multinli.train.en.tsv", "train-en.tsv"
    places = {
        plain: ("xnli",),
        headed: ("xnli", "XNLI-MT-1.0/multinli", "xnli/XNLI-MT-1.0/multinli"),
    }
    folder, name = data.holding_first(places, f"XNLI {_MULTINLI}")
    head, path = ("premise", "hypo", "label"), folder / name
    if name == headed:
        rows = read_headed(path, head)
    else:
        lines = read_columns(path, 3)
        rows = ((where, dict(zip(head, columns, strict=False))) for where, columns in lines)
    pairs: list[LabelledPair] = []
    for where, row in rows:
        known = "contradiction" if row["label"] == "contradictory" else row["label"]
        truth = one_of(known, XNLI_LABELS, where, "label of MultiNLI")
        pairs.append(LabelledPair(str(len(pairs) + 1), row["premise"], row["hypo"], truth))
    if not pairs:
        raise FileError(f"{folder}: MultiNLI has no lines")
    return pairs
