"""Train on several pairs of languages with mixed batches and with batches of one language.

    python bench/language_batches.py en-de.tsv.gz en-fr.tsv.gz ... --data EVAL_FOLDER -o FOLDER

Takes COUNT pairs of each file at random, trains with both settings of --batches and each seed, with
`--near-batches` and without, and measures Tatoeba to and from English. Writes FOLDER/figures.json.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

from embedded import xmine

from xmine.evaluation.reports.record import record, write_record
from xmine.text.languages import ISO_639_3

SETTINGS = {
    f"{batches}, near {near}": ["--batches", batches, "--near-batches", str(near)]
    for near in (0, 32)
    for batches in ("mixed", "language")
}
OPTIONS = "--method msimcse --symmetric --dim 128 --epochs 3 --threads 2".split()


def main() -> None:
    """Cut, train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="+", type=Path, help="named en-XX.tsv.gz")
    parser.add_argument("--data", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    arguments.output.mkdir(exist_ok=True)
    files = [_cut(path, arguments.output, arguments.count) for path in arguments.pairs]
    codes = [path.name.removesuffix(".tsv").partition("-")[2] for path in files]
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for seed in arguments.seeds:
        for name, words in SETTINGS.items():
            folder = arguments.output / f"{name.replace(', ', '-').replace(' ', '-')}-{seed}"
            flags = [*OPTIONS, *words, "--seed", str(seed), "--force", "--json"]
            told = json.loads(xmine("train", *map(str, files), "-o", str(folder), *flags))
            measured = "--data", arguments.data, "--model", str(folder)
            said = xmine("eval", "tatoeba", "--rerank", "off", *measured, "--json")
            rows = {row["name"]: row["figures"] for row in json.loads(said)["rows"]}
            found = {"held_out": told["accuracy"], "seconds": told["seconds"]}
            for code in codes:
                both = rows[ISO_639_3[code]]
                found[code] = (both["to_english"] + both["from_english"]) / 2
            found["tatoeba"] = sum(found[code] for code in codes) / len(codes)
            figures.setdefault(name, {})[str(seed)] = found
            print(seed, name, found, flush=True)
    means = {
        name: {key: sum(each[key] for each in seeds.values()) / len(seeds) for key in found}
        for name, seeds in figures.items()
    }
    result = {"count": arguments.count, "languages": codes, "mean": means, "seeds": figures}
    write_record(arguments.output / "figures.json", record(result))
    print(json.dumps(means, indent=2))


def _cut(path: Path, folder: Path, count: int) -> Path:
    """Draw pairs of a file, the same in each run."""
    cut = folder / path.name.removesuffix(".gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = ["\t".join(line.rstrip("\n").split("\t")[:2]) + "\n" for line in file]
    cut.write_text("".join(random.Random(1).sample(rows, min(count, len(rows)))), encoding="utf-8")
    return cut


if __name__ == "__main__":
    main()
