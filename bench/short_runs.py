"""Train an encoder for a few steps by every method, as the methods come, and tell what that did.

    python bench/short_runs.py PAIRS.tsv.gz --data EVAL_FOLDER -o FOLDER [--seeds 1 2 3]

Of 26,000 random pairs of the tiers A and B, 20,000 make a static encoder, `start`; on the others
the embedded encoder and a transformer of two layers, which begins as `start`, learn for 40 steps of
64 pairs: a method of two stages takes 20 steps in each. `in-batch InfoNCE` is msimcse in both
directions. transaug's teacher is the embedded encoder, as it comes. No sentence of Tatoeba's
Chinese set is trained on. results/short-runs.json is left, and the table of docs/how-to/train.md is
printed: held-out retrieval before, and after the last step, whether or not that state was kept;
Tatoeba's accuracy of the encoder that was kept.
"""

import argparse
import gzip
import json
import random
import shlex
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from embedded import xmine

from xmine.evaluation.reports.record import record, write_record

RESULTS = Path(__file__).parent / "results" / "short-runs.json"
STARTS = {
    "transformer": "--architecture transformer --layers 2 --start {start}",
    "embedded": "--encoder embedded",
}
METHODS = {
    "in-batch InfoNCE": "--method msimcse --symmetric --steps 40",
    "msimcse": "--method msimcse --steps 40",
    "moco": "--method moco --steps 40",
    "transaug": "--method transaug --steps 20",
    "emma-x": "--method emma-x --steps 20",
}
SIZES = {"start": 20_000, "pairs": 6_000}
MEASURED = ("before", "accuracy", "before_halves", "halves", "likeness", "tatoeba")


def main() -> None:
    """Train, measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", help="english, chinese, source, tier")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    draw(arguments.pairs, output)
    excluded = [f"{arguments.data}/tatoeba/tatoeba.cmn-eng.{code}" for code in ("cmn", "eng")]
    aside = [word for each in excluded for word in ("--exclude", each)]
    words = ["--encoder", "scratch", "--steps", "300", "--held-out", "500", *aside]
    trained(output / "start.tsv", output / "start", words)
    found: dict[str, Any] = {}
    for seed in arguments.seeds:
        for start, beginning in STARTS.items():
            folders = {}
            for method, options in METHODS.items():
                line = f"{beginning} {options} --batch-size 64 --held-out 500 --seed {seed}"
                if start == "embedded" and method == "transaug":
                    line += " --distilled-encoder embedded"
                line = line.format(start=output / "start")
                folder = output / f"{start}-{method.replace(' ', '-')}-{seed}"
                told = trained(output / "pairs.tsv", folder, [*shlex.split(line), *aside])
                found.setdefault(start, {}).setdefault(method, {})[seed] = told
                folders[method] = folder
            before = "embedded" if start == "embedded" else str(output / "start")
            for method, gain in tatoeba(before, folders, arguments.data, output).items():
                found[start][method][seed] |= gain
            write_record(RESULTS, record({"commands": METHODS, "starts": STARTS, "runs": found}))
    print(*table(found), sep="\n")


def draw(pairs: str, output: Path) -> None:
    """Draw the pairs to train on."""
    with gzip.open(pairs, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    chosen = ["\t".join(row[:2]) + "\n" for row in rows if row[3] in ("A", "B")]
    random.Random(1).shuffle(chosen)
    at = 0
    for name, count in SIZES.items():
        (output / f"{name}.tsv").write_text("".join(chosen[at : at + count]), encoding="utf-8")
        at += count


def trained(pairs: Path, folder: Path, words: list[str]) -> dict[str, Any]:
    """Train unless that has been done; give the measures before and after the last step."""
    told = folder.with_name(f"{folder.name}.json")
    if not folder.exists():
        told.write_text(xmine("train", str(pairs), "-o", str(folder), *words, "--json"))
    facts = json.loads(told.read_text(encoding="utf-8"))
    logged = map(json.loads, (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    *_, last = (line for line in logged if "accuracy" in line)
    found = {**facts, **{name: last[name] for name in ("accuracy", "halves", "likeness")}}
    kept = {f"kept_{name}": facts[name] for name in ("accuracy", "halves", "likeness")}
    return {name: found[name] for name in MEASURED if name in found} | kept


def tatoeba(
    before: str, folders: dict[str, Path], data: Path, output: Path
) -> dict[str, dict[str, float]]:
    """Measure the encoders that were kept, those of two languages too."""
    alone = output / "data"
    alone.mkdir(exist_ok=True)
    if not (alone / "tatoeba").exists():
        (alone / "tatoeba").symlink_to((data / "tatoeba").absolute())
    places = [str(each) for each in folders.values()]
    said = xmine(
        "eval", "gain", before, *places, "--data", str(alone), "--language", "cmn", "--json"
    )
    found = {}
    for method, compared in zip(folders, json.loads(said)["comparisons"], strict=True):
        (gain,) = (each for each in compared["gains"] if each["benchmark"] == "tatoeba cmn")
        found[method] = {"before_tatoeba": gain["before"], "tatoeba": gain["after"]}
    return found


def table(found: dict[str, Any]) -> list[str]:
    """Lay the means over seeds out as a table of Markdown, times 100."""
    rows = [
        "| encoder | method | held-out | without half of the tokens | likeness | Tatoeba zh-en |",
        "|---|---|---|---|---|---|",
    ]
    for start, methods in found.items():
        begun = list(next(iter(methods.values())).values())  # of one stage, which others are not
        for method, seeds in methods.items():
            cells = [
                changed([each[before] for each in begun], [each[after] for each in seeds.values()])
                for before, after in (
                    ("before", "accuracy"),
                    ("before_halves", "halves"),
                    ("before_tatoeba", "tatoeba"),
                )
            ]
            cells.insert(2, f"{fmean(each['likeness'] for each in seeds.values()):.2f}")
            rows.append(f"| {start} | {method} | {' | '.join(cells)} |")
    return rows


def changed(before: list[float], after: list[float]) -> str:
    """Show the mean before and after, and the change with its deviation over seeds."""
    changes = [100 * (y - x) for x, y in zip(before, after, strict=True)]
    deviation = f" ± {stdev(changes):.1f}" if len(changes) > 1 else ""
    means = f"{100 * fmean(before):.1f} -> {100 * fmean(after):.1f}"
    return f"{means} ({fmean(changes):+.1f}{deviation})"


if __name__ == "__main__":
    main()
