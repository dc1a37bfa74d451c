"""Train the embedded encoder with several seeds, and measure each on the benchmarks.

    python bench/embedded.py en-zh.tsv.gz en-de.tsv.gz ... --data EVAL_FOLDER -o FOLDER
        [--seeds 1 2 3] [--options FILE]
    python bench/embedded.py --shipped --data EVAL_FOLDER
    python bench/embedded.py --peers use e5 --data EVAL_FOLDER

Trains with xmine/embedded/options.toml, which is where the settings of the shipped encoder stand,
or with FILE, into FOLDER/seed-N, and writes FOLDER/figures.json: the figures of each seed and their
mean. A run that was stopped goes on where it was. `--shipped` trains nothing: it measures the
encoder that ships, after a change of the code around it, and writes that into
bench/results/embedded.json, whose figures README, docs and card quote. `--peers` does so with other
encoders on Tatoeba and BUCC, in the languages of the one that ships, and as the second model of
`xmine mine --rescore` beside it; speed is that on newstest2019. What peers were trained on is not
known.

A figure is named by its benchmark, row and metric, as `xmine eval` has them: `tatoeba deu, reranked
to_english`. The languages are those of the encoder.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.rescorer import load_rescorer
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.languages import chosen_languages
from xmine.evaluation.options import BitextOptions, BuccOptions, TatoebaOptions
from xmine.evaluation.readers.bucc import BuccFolder
from xmine.evaluation.reports.record import record, write_record
from xmine.evaluation.retrieval.bucc import PROTOCOLS, mine_pair
from xmine.files.reading import read_lines
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.options import load_toml
from xmine.pairs.known import LabelledPair, LabelledPairs

RESULTS = Path(__file__).parent / "results" / "embedded.json"
# Benchmark -> how it is measured, and the metrics that are kept.
MEASURED = {
    "tatoeba": (TatoebaOptions(), ("to_english", "from_english")),
    "bitext": (BitextOptions(), ("forward", "backward")),
    "bucc": (BuccOptions(protocol="msimcse"), ("f1",)),
}
BY_VECTORS = {  # peers, which take long to read tokens
    "tatoeba": (TatoebaOptions(rerank="off"), ("to_english", "from_english")),
    "bucc": (BuccOptions(protocol="msimcse", rerank="off"), ("f1",)),
}


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*")
    parser.add_argument("--data", required=True)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--peers", nargs="+", default=[])
    parser.add_argument("--options", type=Path, default=EMBEDDED / "options.toml")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    if arguments.shipped:
        kept = json.loads(RESULTS.read_text(encoding="utf-8"))
        shipped = record({"megabytes": _megabytes(EMBEDDED), **measure(EMBEDDED, arguments.data)})
        write_record(RESULTS, {**kept, "shipped": shipped})
        print(json.dumps(shipped, indent=2))
        return
    for name in arguments.peers:
        figures: dict[str, float] = {}
        for found in measure_peer(name, Path(arguments.data)):
            figures |= found
            kept = json.loads(RESULTS.read_text(encoding="utf-8"))
            peers = {**kept.get("peers", {}), name: record(figures)}
            write_record(RESULTS, {**kept, "peers": peers})
        print(json.dumps(figures, indent=2))
    if arguments.peers:
        return
    if not arguments.pairs or not arguments.output:
        parser.error("give PAIRS and -o FOLDER, --shipped or --peers")
    arguments.output.mkdir(exist_ok=True)
    seeds: dict[str, dict[str, float]] = {}
    for seed in arguments.seeds:
        folder = arguments.output / f"seed-{seed}"
        trained = _train(arguments.pairs, arguments.options, folder, seed)
        seeds[str(seed)] = {**trained, **measure(folder, arguments.data)}
        print(f"seed {seed}: {trained}", flush=True)
    names = next(iter(seeds.values()))
    means = {name: sum(each[name] for each in seeds.values()) / len(seeds) for name in names}
    settings = arguments.options.read_text(encoding="utf-8")
    result = record({"mean": means, "seeds": seeds, "settings": settings})
    write_record(arguments.output / "figures.json", result)
    print(json.dumps(means, indent=2))


def _train(pairs: Sequence[str], file: Path, folder: Path, seed: int) -> dict[str, float]:
    """Train unless it has been done with these options; return the figures of the run."""
    summary = folder.with_suffix(".json")
    options = {**load_toml(file), "seed": seed}
    known = load_toml(folder / "options.toml") if summary.exists() and folder.exists() else {}
    if any(known.get(name) != value for name, value in options.items()):  # it names the others too
        flags = ["--method", "msimcse", "--options", str(file), "--seed", str(seed)]
        flags += ["--force", "--resume", "auto"]
        run = xmine("train", *pairs, "-o", str(folder), "--json", *flags)
        summary.write_text(run, encoding="utf-8")
    found = json.loads(summary.read_text(encoding="utf-8"))
    kept = ("seconds", "forward", "backward", *(name for name in found if "accuracy_" in name))
    return {name: found[name] for name in kept}


def measure(folder: Path, data: str) -> dict[str, float]:
    """Measure an encoder on all benchmarks that there are files of in its languages."""
    encoder = SentenceEncoder.load(folder)
    figures = evaluate(encoder, data, MEASURED)
    if (files := Path(data) / "eval" / "pseudo-bucc").is_dir():
        figures |= measure_pseudo_bucc(encoder, files)
    return figures


def evaluate(
    encoder: SentenceEncoder, data: str, measured: Mapping[str, tuple[Any, tuple[str, ...]]]
) -> dict[str, float]:
    """Measure an encoder on benchmarks, in the languages of its facts."""
    figures: dict[str, float] = {}
    for name, (options, metrics) in measured.items():
        try:
            result = BENCHMARKS[name].load()(encoder, DataFolder(Path(data)), options)
        except MissingData as error:
            print(f"{name}: {error.message}", file=sys.stderr)
            continue
        for row in result.rows:
            figures |= {f"{name} {row.name} {metric}": row.figures[metric] for metric in metrics}
    return figures


def measure_pseudo_bucc(encoder: SentenceEncoder, folder: Path) -> dict[str, float]:
    """Mine files `xx-en.dev.{xx,en,gold}` in BUCC's format, made of news for measuring xmine.

    F1 at the best threshold in hindsight, and at that which `xmine mine` chooses: of each pair in
    the languages of the encoder, and the mean.
    """
    there = sorted(path.name.split(".")[0] for path in folder.glob("*-*.dev.gold"))
    pairs = chosen_languages([], there, encoder.facts, "")
    files, protocol = BuccFolder(folder, pairs, there), PROTOCOLS["msimcse"]  # which has `oracle`
    protocol = replace(protocol, duplicates="folded")
    figures: dict[str, float] = {}
    means: dict[str, list[float]] = {}
    for pair in pairs:
        _, (first, *again) = mine_pair(encoder, files, pair, protocol, BuccOptions())
        # what mining cannot rerank it ranks by the margin
        for kind, cuts in (("", first), (", reranked", again[0] if again else first)):
            threshold, found = cuts["oracle"]
            for name, f1 in (("oracle", found.at(threshold).f1), ("auto", found.auto[1].f1)):
                figures[f"pseudo-bucc {pair}{kind} {name}"] = f1
                means.setdefault(f"mean of {len(pairs)}{kind} {name}", []).append(f1)
    return figures | {f"pseudo-bucc {name}": fmean(each) for name, each in means.items()}


def measure_peer(name: str, data: Path) -> Iterator[dict[str, float]]:
    """Measure an encoder of others, its speed, and what it adds to the one that ships."""
    peer, ours = SentenceEncoder.load(name), SentenceEncoder.load()
    lines = [
        line for side in ("en", "zh") for line in read_lines(data / f"eval/newstest2019/ref.{side}")
    ]
    peer.encode(lines[:100])
    started = process_time()
    peer.encode(lines[:1000] + lines[-1000:])
    yield {"lines_per_cpu_second": round(2000 / (process_time() - started), 1)}
    shared = tuple(each for each in peer.facts.languages if each in ours.facts.languages)
    peer = replace(peer, facts=replace(peer.facts, languages=shared))
    yield evaluate(peer, str(data), BY_VECTORS)
    yield measure_rescored(ours, name, data / "eval" / "pseudo-bucc")


def measure_rescored(encoder: SentenceEncoder, second: str, folder: Path) -> dict[str, float]:
    """Mine the files of `measure_pseudo_bucc` as `xmine mine` does, alone and with a second model.

    A language that the second model does not know is measured like the others.
    """
    figures: dict[str, float] = {}
    means: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*-en.dev.gold")):
        pair = path.name.split(".")[0]
        split = BuccFolder(folder, [pair], [pair]).read(pair, "sample")
        rows = [{name: at for at, (name, _) in enumerate(side, 1)} for side in split.sides]
        gold = [LabelledPair(rows[0][one], rows[1][other], True) for one, other in split.gold]
        texts = [[text for _, text in side] for side in split.sides]
        for kind, rescorer in (("alone", None), (f"rescored by {second}", load_rescorer(second))):
            with TemporaryDirectory() as run:
                for cut in ("gold", "auto"):
                    mined = mine(
                        texts[0],
                        texts[1],
                        encoder,
                        MiningOptions(threshold=cut),
                        gold=LabelledPairs("gold", gold),
                        rescorer=rescorer,
                        run=Path(run, "run"),
                        force=True,
                    )
                    name = f"{kind} {'oracle' if cut == 'gold' else cut}"
                    f1 = mined.report().agreements["gold"].f1
                    figures[f"mined {pair}, {name}"] = f1
                    means.setdefault(name, []).append(f1)
    return figures | {f"mined mean, {name}": fmean(each) for name, each in means.items()}


def _megabytes(folder: Path) -> float:
    """Add up the files of an encoder: its weights, and its vocabulary as xmine reads it."""
    files = ("model.safetensors", "sentencepiece.model")
    return round(sum((folder / name).stat().st_size for name in files) / 1e6, 1)


def xmine(*arguments: str) -> str:
    """Run the command, and give what it prints; a word `clip=1.0` is an option without a flag."""
    words = [word for word in arguments if not re.fullmatch(r"[a-z_]+=.*", word)]
    with TemporaryDirectory() as folder:
        own = Path(folder, "options.toml")
        own.write_text("\n".join(word for word in arguments if word not in words))
        more = ["--options", str(own)] if len(words) < len(arguments) else []
        command = [sys.executable, "-m", "xmine", *words, *more]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
