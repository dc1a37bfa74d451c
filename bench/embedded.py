"""Train the embedded encoder with several seeds, and measure each on the benchmarks.

    python bench/embedded.py PAIRS.tsv.gz --data EVAL_FOLDER -o FOLDER [--seeds 1 2 3]
    python bench/embedded.py --shipped --data EVAL_FOLDER

Trains with xmine/embedded/options.toml, which is where the settings of the shipped encoder stand,
into FOLDER/seed-N, and writes FOLDER/figures.json: the figures of each seed and their mean.
A run that was stopped goes on where it was. `--shipped` trains nothing: it measures the encoder
that ships, after a change of the code around it, and writes that into bench/results/embedded.json,
whose figures `python bench/shown.py` puts into README, docs and card.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from xmine.encoders.encoder import EMBEDDED
from xmine.evaluation.reports.record import record, write_record
from xmine.options import load_toml

RESULTS = Path(__file__).parent / "results" / "embedded.json"
# Arguments of `xmine eval` -> name of a figure -> the row and metric it is.
FIGURES = {
    "tatoeba --language cmn": {
        "tatoeba_en_zh": ("cmn", "from_english"),
        "tatoeba_zh_en": ("cmn", "to_english"),
        "tatoeba_en_zh_reranked": ("cmn, reranked", "from_english"),
        "tatoeba_zh_en_reranked": ("cmn, reranked", "to_english"),
    },
    "bitext": {
        "newstest2019_en_zh": ("newstest2019 zh-en", "backward"),
        "newstest2019_zh_en": ("newstest2019 zh-en", "forward"),
        "newstest2019_en_zh_reranked": ("newstest2019 zh-en, reranked", "backward"),
        "newstest2019_zh_en_reranked": ("newstest2019 zh-en, reranked", "forward"),
    },
    "bucc --protocol msimcse": {
        "bucc_oracle_f1": ("zh-en oracle", "f1"),
        "bucc_auto_f1": ("zh-en auto", "f1"),
        "bucc_oracle_f1_reranked": ("zh-en oracle, reranked", "f1"),
        "bucc_auto_f1_reranked": ("zh-en auto, reranked", "f1"),
    },
}


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="?")
    parser.add_argument("--data", required=True)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    if arguments.shipped:
        kept = json.loads(RESULTS.read_text(encoding="utf-8"))
        shipped = record(measure(EMBEDDED, arguments.data))
        write_record(RESULTS, {**kept, "shipped": shipped})
        print(json.dumps(shipped, indent=2))
        return
    if not arguments.pairs or not arguments.output:
        parser.error("give PAIRS and -o FOLDER, or --shipped")
    arguments.output.mkdir(exist_ok=True)
    seeds: dict[str, dict[str, float]] = {}
    for seed in arguments.seeds:
        folder = arguments.output / f"seed-{seed}"
        trained = _train(arguments.pairs, folder, seed)
        seeds[str(seed)] = {**trained, **measure(folder, arguments.data)}
        print(seed, seeds[str(seed)], flush=True)
    names = next(iter(seeds.values()))
    means = {name: sum(each[name] for each in seeds.values()) / len(seeds) for name in names}
    settings = (EMBEDDED / "options.toml").read_text(encoding="utf-8")
    result = record({"mean": means, "seeds": seeds, "settings": settings})
    write_record(arguments.output / "figures.json", result)
    print(json.dumps(result, indent=2))


def _train(pairs: str, folder: Path, seed: int) -> dict[str, float]:
    """Train unless it has been done with these options; return the figures of the run."""
    summary = folder.with_suffix(".json")
    options = {**load_toml(EMBEDDED / "options.toml"), "seed": seed}
    if not folder.exists() or not summary.exists() or load_toml(folder / "options.toml") != options:
        flags = ["--options", str(EMBEDDED / "options.toml"), "--seed", str(seed)]
        flags += ["--force", "--resume", "auto"]
        run = xmine("train", pairs, "-o", str(folder), "--json", *flags)
        summary.write_text(run, encoding="utf-8")
    found = json.loads(summary.read_text(encoding="utf-8"))
    return {name: found[name] for name in ("seconds", "forward", "backward")}


def measure(folder: Path, data: str) -> dict[str, float]:
    """Measure an encoder: the FIGURES, by name."""
    figures: dict[str, float] = {}
    for arguments, names in FIGURES.items():
        asked = ("eval", *arguments.split(), "--data", data, "--model", str(folder), "--json")
        rows = {row["name"]: row["figures"] for row in json.loads(xmine(*asked))["rows"]}
        figures |= {name: rows[row][metric] for name, (row, metric) in names.items()}
    return figures


def xmine(*arguments: str) -> str:
    """Run the command, and give what it prints."""
    command = [sys.executable, "-m", "xmine", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
