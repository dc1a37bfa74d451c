"""How well documents are paired, and what documents bring to mining.

    python bench/documents.py EVAL [--json OUT.json] [--fit]

Documents are 5 to 15 lines of news that follow each other, of `EVAL/newstest`; names say nothing.
Half of a side have their translation on the other side; the others are news of the same files. For
mining, 5 % of the documents have a translation. `--fit` learns the weights of
`xmine.scoring.documents` from other texts; some of their documents are cut, and lack lines.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

import numpy as np

from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.mining.documents import pair_documents, shared_of
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine

TEXTS = {
    "de": ["newstest2019.deu-eng", "newstest2020.deu-eng", "newstest2020.eng-deu"],
    "ru": ["newstest2020.rus-eng", "newstest2020.eng-rus", "newstest2019.rus-eng"],
    "ja": ["newstest2020.eng-jpn", "newstest2020.jpn-eng"],
    "es": ["newstest2013.eng-spa"],
    "cs": ["newstest2018.ces-eng", "newstest2019.eng-ces"],
    "pl": ["newstest2020.eng-pol", "newstest2020.pol-eng"],
}
DEV = [
    ("newstest2014.eng-fra", "fr"),
    ("newstest2009.eng-ita", "it"),
    ("newstest2018.eng-tur", "tr"),
    ("newstest2019.eng-rus", "ru"),
    ("newstest2014.eng-hin", "hi"),
    ("newstest2019.eng-deu", "de"),
]
Documents = list[tuple[list[str], list[str]]]


def documents(path: Path, code: str, seed: int) -> Documents:
    """Cut a text of news and its translation into documents: English, and the other language."""
    sides = [list(read_lines(path.with_name(f"{path.name}.{each}"))) for each in ("en", code)]
    drawn, found, at = random.Random(seed), Documents(), 0
    while at < len(sides[0]):
        size = drawn.randint(5, 15)
        found.append((sides[0][at : at + size], sides[1][at : at + size]))
        at += size
    return found


def corpus(every: Documents, share: float, folder: Path, seed: int) -> set[tuple[str, str]]:
    """Write documents of both sides, and tell which are translations of each other.

    A share of the documents of each side are in both.
    """
    drawn = random.Random(seed)
    drawn.shuffle(every)
    both = round(len(every) * share / (2 - share))
    alone = every[both:]
    sides = [
        every[:both] + alone[: len(alone) // 2],
        every[:both] + alone[len(alone) // 2 :],
    ]
    named: list[list[str]] = []
    for at, side in enumerate(sides):
        (folder / "ab"[at]).mkdir(parents=True)
        numbers = drawn.sample(range(len(side)), len(side))
        named.append([str(folder / "ab"[at] / f"{number}.txt") for number in numbers])
        for name, document in zip(named[at], side, strict=True):
            Path(name).write_text("\n".join(document[at]) + "\n", encoding="utf-8")
    return set(zip(named[0][:both], named[1][:both], strict=True))


def measure_pairing(folder: Path, gold: set[tuple[str, str]]) -> dict[str, float]:
    """Pair the documents; F1 at a probability of one half, and the calibration."""
    found = pair_documents(folder / "a", folder / "b")
    right = [(each.source, each.target) in gold for each in found]
    kept = [each.prob >= 0.5 for each in found]
    hits = sum(np.array(right) & np.array(kept))
    return {
        "documents": len(list((folder / "a").iterdir())),
        "precision": round(float(hits / max(1, sum(kept))), 4),
        "recall": round(float(hits / len(gold)), 4),
        "f1": round(float(2 * hits / (sum(kept) + len(gold))), 4),
        "expected_precision": round(float(np.mean([x.prob for x in found if x.prob >= 0.5])), 4),
    }


def measure_mining(folder: Path, gold: set[tuple[str, str]]) -> dict[str, float]:
    """Mine with and without documents: F1 of `auto` by the lines of translated documents."""
    size = {name: len(list(read_lines(name))) for pair in gold for name in pair}
    right = {(x, y, n) for x, y in gold for n in range(1, size[x] + 1)}
    found = {}
    for documents_option in ("off", "auto"):
        options = MiningOptions(documents=documents_option)
        pairs = mine(folder / "a", folder / "b", options=options).pairs
        rows = [(r.source_file, r.target_file, r.source_line, r.target_line) for r in pairs.rows()]
        hits = sum((x, y, n) in right and n == m for x, y, n, m in rows)
        found[f"f1_{documents_option}"] = round(2 * hits / (len(rows) + len(right)), 4)
    return found


def worn(every: Documents, seed: int) -> Documents:
    """Cut documents and leave out lines; two thirds of them begin with the same two lines."""
    drawn, (first, *others) = random.Random(seed), every
    found = Documents()
    for document in others:
        size = drawn.randint(1, 5) if drawn.random() < 0.3 else 15
        head = 2 if drawn.random() < 0.7 else 0
        sides = []
        for top, lines in zip(first, document, strict=True):
            lost = drawn.choice((0, 0.4))
            kept = [line for n, line in enumerate(lines[:size]) if n == 0 or drawn.random() >= lost]
            sides.append(top[:head] + kept)
        found.append((sides[0], sides[1]))
    return found


def fit(data: Path) -> None:
    """Learn the weights of a pair of documents, and print them."""
    from sklearn.linear_model import LogisticRegression

    figures, right = [], list[bool]()
    for name, code in DEV:
        every = documents(data / "newstest" / name, code, seed=1)
        for some in (every, worn(every, seed=3)):
            for share in (0.05, 0.5):
                with tempfile.TemporaryDirectory() as folder:
                    gold = corpus(list(some), share, Path(folder), seed=2)
                    sides = Path(folder) / "a", Path(folder) / "b"
                    mined = mine(*sides, options=MiningOptions(documents="auto"))
                    shared, names, sizes = shared_of(mined)
                x, y = np.divmod(shared.keys, shared.width)
                pairs = zip(x.tolist(), y.tolist(), strict=True)
                right += [(names[0][one], names[1][other]) in gold for one, other in pairs]
                figures.append(shared.figures(sizes))
    model = LogisticRegression(C=10, fit_intercept=False).fit(np.concatenate(figures), right)
    print(len(right), sum(right), model.coef_.round(3).tolist())


def main() -> None:
    """Measure each text; print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    if arguments.fit:
        return fit(arguments.data)
    rows: dict[str, dict[str, dict[str, float]]] = {"pairing": {}, "mining": {}}
    for code, names in TEXTS.items():
        paths = [arguments.data / "newstest" / name for name in names]
        every = [each for path in paths for each in documents(path, code, seed=1)]
        for what, share, measure in (
            ("pairing", 0.5, measure_pairing),
            ("mining", 0.05, measure_mining),
        ):
            with tempfile.TemporaryDirectory() as folder:
                gold = corpus(list(every), share, Path(folder), seed=2)
                rows[what][code] = measure(Path(folder), gold)
            print(what, code, rows[what][code], flush=True)
    means = {
        what: {
            key: round(float(np.mean([row[key] for row in some.values()])), 4)
            for key in next(iter(some.values()))
        }
        for what, some in rows.items()
    }
    result = record({"mean": means, **rows})
    print(json.dumps(means, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
