"""Adapt an encoder to a domain or a language that it has not seen, round by round: F1 of mining.

    python bench/loop.py domain en-de.tsv.gz multi30k --data EVAL -o FOLDER
    python bench/loop.py language en-tr.tsv.gz --encoder VARIANT --data EVAL -o FOLDER

`domain` hides pairs of an origin (third column) among other lines of the same origin, mines both
sides with the embedded encoder, and adapts it by `xmine adapt`: without judgements, with 50 around
the cut, and for one round with each training method. The ceiling is the best cut of an encoder that
was trained on the hidden pairs themselves.

`language` does the same with an encoder that has never seen the second language, and a file of so
many other pairs, or of a word list. F1 is that of reranked candidates of eval/pseudo-bucc at `auto`
and at the best cut. Writes FOLDER/figures.json.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embedded import xmine
from few_of_domain import mined, pairs_of

from xmine.browsing.judgements import Judgements
from xmine.browsing.opening import open_pairs
from xmine.browsing.samples import Sample
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.evaluation.retrieval.aligned import retrieval_accuracy
from xmine.files.reading import read_lines
from xmine.pairs.known import read_known
from xmine.scoring.gold import agreement
from xmine.trainer.options.adapt import ADAPTERS

Pairs = Sequence[tuple[str, str]]
_WORDS = "freedict"  # the origin of the pairs of a word list
_NEWS = "newstest/newstest2019.deu-eng"
_TRAINING = (
    *("--method", "msimcse", "--symmetric", "--temperature", "0.08", "--epochs", "10"),
    *("--learning-rate", "0.003", "--token-dropout", "0.2"),
)


def main() -> None:
    """Mine, adapt, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    domain, language = kinds.add_parser("domain"), kinds.add_parser("language")
    domain.add_argument("pairs", type=Path)
    domain.add_argument("origin")
    domain.add_argument("--hidden", type=int, default=9000)
    language.add_argument("pairs", type=Path)
    language.add_argument("--encoder", required=True)
    language.add_argument("--hidden", type=int, default=15_000)
    for each in (domain, language):
        each.add_argument("--data", type=Path, required=True)
        each.add_argument("-o", "--output", type=Path, required=True)
        each.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    of_kind = of_domain if arguments.kind == "domain" else of_language
    figures = of_kind(arguments)
    settings = {
        name: Path(value).name if isinstance(value, (str, Path)) else value
        for name, value in vars(arguments).items()
        if name not in ("output", "data")
    }
    write_record(arguments.output / "figures.json", record({**settings, "figures": figures}))


def of_domain(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a domain: without judgements, with 50, with each method, and the ceiling."""
    output, data = arguments.output, arguments.data
    rows = pairs_of(arguments.pairs, arguments.origin)
    whole = arguments.hidden
    texts = hide(rows[: 2 * whole], whole, output)
    run = output / "run"
    figures: dict[str, Any] = {"newstest": {"embedded": news("embedded", data)}}
    mine(texts, run)
    figures["before"] = f1(run, output)
    figures["without judgements"] = adapted(run, output / "loop", arguments)
    for number in range(1, arguments.rounds + 1):
        encoder = output / "loop" / f"encoder-{number}"
        if encoder.exists():
            figures["newstest"][f"round {number}"] = news(str(encoder), data)
    judged = output / "judged"
    mine(texts, judged)
    judge(judged, output, 50)
    mine(texts, judged, "--seed-pairs", str(judged))
    figures["before, 50 judged"] = f1(judged, output)
    figures["50 judged"] = adapted(judged, output / "loop-judged", arguments)
    once = argparse.Namespace(**{**vars(arguments), "rounds": 1})
    figures["methods"] = {
        name: adapted(run, output / f"loop-{name}", once, "--method", name)
        for name in ADAPTERS
        if name != ADAPTERS[0]
    }
    ceiling(texts, output, rows, "embedded")
    figures["ceiling"] = f1(output / "best", output)
    return figures


def of_language(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a language that the encoder has not seen: with seed pairs, and with a word list."""
    output = arguments.output
    english, code = arguments.pairs.name.partition(".")[0].split("-")
    words = pairs_of(arguments.pairs, _WORDS)
    rows = [pair for pair in pairs_of(arguments.pairs) if pair not in set(words)]
    texts = hide(rows[: 2 * arguments.hidden], arguments.hidden, output)
    others = rows[2 * arguments.hidden :]
    run = output / "run"
    mine(texts, run, "--model", arguments.encoder)
    known = {"500 pairs": others[:500], "5,000 pairs": others[:5000]}
    known[f"{len(words)} words"] = words
    known[f"{len(words)} words, 500 pairs"] = [*words, *others[:500]]
    files: dict[str, list[Path]] = {"nothing": []}
    for name, pairs in known.items():
        files[name] = [output / f"{name.replace(' ', '-').replace(',', '')}.tsv"]
        lines = "".join(f"{x}\t{y}\n" for x, y in pairs)
        files[name][0].write_text(lines, encoding="utf-8")
    figures: dict[str, Any] = {}
    before = mined(arguments.encoder, arguments.data, f"{code}-{english}")
    for name, given in files.items():
        folder = output / f"loop-{name.replace(' ', '-')}"
        said = [word for file in given for word in ("--pairs", str(file))]
        rounds = adapted(run, folder, arguments, "--confidence", "0.5", *said)
        figures[name] = [{**before, **f1(run, output)}]
        for each in rounds:
            encoder = str(folder / f"encoder-{each['round']}")
            scores = mined(encoder, arguments.data, f"{code}-{english}")
            figures[name].append({**each, **scores})
        print(name, figures[name], flush=True)
    best = ceiling(texts, output, rows, str(output / "loop-nothing" / "start"))
    figures["ceiling"] = {
        **f1(output / "best", output),
        **mined(best, arguments.data, f"{code}-{english}"),
    }
    return figures


def ceiling(texts: tuple[str, str], output: Path, rows: Pairs, start: str) -> str:
    """Train an encoder on the hidden pairs themselves, and mine with the best cut."""
    true, best = output / "true.tsv", output / "ceiling"
    whole = len(read_known(output / "gold.tsv").pairs)
    true.write_text("".join(f"{x}\t{y}\n" for x, y in rows[:whole]), encoding="utf-8")
    if not best.exists():
        xmine("train", str(true), "-o", str(best), "--encoder", start, *_TRAINING, "-q")
    gold = ("--threshold", "gold", "--gold", str(output / "gold.tsv"))
    mine(texts, output / "best", "--model", str(best), *gold)
    return str(best)


def hide(rows: Pairs, whole: int, folder: Path) -> tuple[str, str]:
    """Write `whole` pairs among half as many other sources and targets, and their lines."""
    half = whole // 2
    sides = [rows[: whole + half], [*rows[:whole], *rows[whole + half : 2 * whole]]]
    places = []
    for at, (name, pairs) in enumerate(zip(("source", "target"), sides, strict=True)):
        order = random.Random(at).sample(range(len(pairs)), len(pairs))
        texts = "".join(f"{pairs[row][at]}\n" for row in order)
        (folder / f"{name}.txt").write_text(texts, encoding="utf-8")
        places.append({row: line for line, row in enumerate(order, start=1)})
    gold = "".join(f"{places[0][row]}\t{places[1][row]}\n" for row in range(whole))
    (folder / "gold.tsv").write_text(gold, encoding="utf-8")
    return str(folder / "source.txt"), str(folder / "target.txt")


def mine(texts: tuple[str, str], run: Path, *words: str) -> None:
    """Mine both sides into a run."""
    xmine("mine", *texts, "-o", f"{run}/", "--force", "-q", *words)


def f1(run: Path, folder: Path) -> dict[str, float]:
    """Compare what a run keeps with the hidden pairs."""
    opened = open_pairs(run)
    kept = opened.kept(opened.cut)
    sides = (opened.source, opened.sources), (opened.target, opened.targets)
    lines = (side.lines[rows[kept]].tolist() for side, rows in sides)
    found = set(zip(*lines, strict=True))
    right = {pair[:2] for pair in read_known(folder / "gold.tsv").pairs}
    agreed = agreement(found, right)
    return {name: getattr(agreed, name) for name in ("precision", "recall", "f1")}


def adapted(run: Path, folder: Path, arguments: argparse.Namespace, *words: str) -> list[Any]:
    """Adapt the encoder of a run: the figures of each round."""
    given = ("--rounds", str(arguments.rounds), "--json", *words)
    said = json.loads(xmine("adapt", str(run), "-o", str(folder), *given))
    found = []
    for each in said["rounds"][1:]:
        told = {name: each[name] for name in ("round", "trained_on", "halves", "pairs")}
        found.append({**told, **f1(Path(each["run"]), arguments.output)})
    print(folder.name, [(each["halves"], each["f1"]) for each in found], flush=True)
    return found


def judge(run: Path, folder: Path, count: int) -> None:
    """Judge the pairs around the cut as the hidden pairs say."""
    opened = open_pairs(run)
    right = {pair[:2] for pair in read_known(folder / "gold.tsv").pairs}
    judgements = Judgements.open(opened)
    for row in Sample(opened, opened.cut, count, around=True).rows.tolist():
        pair = opened.pair(row)
        is_right = (pair.source_line, pair.target_line) in right
        judgements.judge(row, "accept" if is_right else "reject")


def news(encoder: str, data: Path) -> float:
    """Measure retrieval on newstest2019, German and English."""
    loaded = SentenceEncoder.load(encoder)
    german, english = (loaded.encode(read_lines(data / f"{_NEWS}.{code}")) for code in ("de", "en"))
    return retrieval_accuracy(german, english).mean


if __name__ == "__main__":
    main()
