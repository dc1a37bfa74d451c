"""Train on few pairs of a domain that the embedded encoder has not seen, and mine other text of it.

    python bench/few_of_domain.py en-de.tsv.gz multi30k -o FOLDER

Of the pairs of an origin (third column), 3,000 are hidden among 3,000 other lines on each side, and
others train an encoder by `xmine train N.tsv -o N` and nothing else. Writes FOLDER/figures.json: F1
of reranked candidates at the best threshold and at `auto`, before (0) and after training.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

from embedded import xmine

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import PairOptions
from xmine.evaluation.reports.record import record, write_record
from xmine.evaluation.retrieval.pseudo_bucc import evaluate_pseudo_bucc

_HIDDEN = 3000


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("origin")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--counts", type=int, nargs="+", default=[500, 2_000, 5_000, 12_000])
    arguments = parser.parse_args()
    source, target = arguments.pairs.name.partition(".")[0].split("-")
    output: Path = arguments.output
    rows = pairs_of(arguments.pairs, arguments.origin)
    hide(rows[: 3 * _HIDDEN], output / "pseudo-bucc", source, target)
    figures = {"0": mined(EMBEDDED, output, f"{target}-{source}")}
    for count in arguments.counts:
        file, folder = output / f"{count}.tsv", output / str(count)
        seen = rows[3 * _HIDDEN :][:count]
        if not folder.exists():
            file.write_text("".join(f"{x}\t{y}\n" for x, y in seen), encoding="utf-8")
            languages = ("--languages", f"{source},{target}")
            said = xmine("train", str(file), "-o", str(folder), *languages, "--json")
            folder.with_suffix(".json").write_text(said, encoding="utf-8")
        facts = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
        told = {name: facts[name] for name in ("before_halves", "halves", "seconds")}
        figures[str(count)] = told | mined(folder, output, f"{target}-{source}")
        print(count, figures[str(count)], flush=True)
    write_record(output / "figures.json", record({"origin": arguments.origin, "pairs": figures}))


def pairs_of(path: Path, origin: str = "") -> list[tuple[str, str]]:
    """Read the pairs of an origin, or all, none of whose sentences comes twice, in random order."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = [line.rstrip("\n").split("\t") for line in file]
    rows = [(row[0], row[1]) for row in found if origin in ("", row[2])]
    random.Random(1).shuffle(rows)
    seen: set[str] = set()
    kept = []
    for pair in rows:
        if seen.isdisjoint(pair):
            kept.append(pair)
            seen.update(pair)
    return kept


def hide(rows: list[tuple[str, str]], folder: Path, source: str, target: str) -> None:
    """Write the first third of pairs among sources of the second and targets of the third."""
    whole = _HIDDEN
    sides = {source: rows[: 2 * whole], target: rows[:whole] + rows[2 * whole :]}
    folder.mkdir(parents=True, exist_ok=True)
    for side, (code, texts) in enumerate(sides.items()):
        lines = [f"{code}-{at:09}\t{pair[side]}\n" for at, pair in enumerate(texts)]
        random.Random(side).shuffle(lines)
        (folder / f"{target}-{source}.dev.{code}").write_text("".join(lines), encoding="utf-8")
    gold = "".join(f"{target}-{at:09}\t{source}-{at:09}\n" for at in range(whole))
    (folder / f"{target}-{source}.dev.gold").write_text(gold, encoding="utf-8")


def mined(folder: str | Path, data: Path, pair: str) -> dict[str, float]:
    """Mine with an encoder: F1 of reranked candidates."""
    options = PairOptions(pair=[pair])
    result = evaluate_pseudo_bucc(SentenceEncoder.load(folder), DataFolder(data), options)
    figures = next(row.figures for row in result.rows if row.name == f"{pair}, reranked")
    return {"best_f1": figures["oracle"], "auto_f1": figures["auto"]}


if __name__ == "__main__":
    main()
