"""Train the packs of the embedded encoder, and measure them.

    python bench/packs.py TRAIN_FOLDER -o FOLDER [--languages el sv ...] [--seed 1]
        [--without SOURCE ...] [--options FILE]
    python bench/packs.py --measure DATA [--packs FOLDER] [--languages el sv ...] [--json FILE]

Trains with xmine/embedded/packs/options.toml, on `en-XX.tsv.gz` and `en-XX.more.tsv.gz` (English,
the other language, source, tier), and writes XX.pack: the same bytes again on the same machine. A
source that is not in bench/sources.tsv is refused: no pack holds what has no known licence.

`--measure` writes accuracy of retrieval, the mean of both directions, by vectors and reranked,
without and with packs: NTREX, Tatoeba, newstest and FLORES-101 against English, and NTREX between
pairs of languages that have packs; and CPU seconds a line.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from card import SOURCES

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.packs import PACKS, packs_in
from xmine.encoders.pair import as_pair, with_packs
from xmine.evaluation.reports.record import record, write_record
from xmine.evaluation.retrieval.aligned import hits_of, nearest_lines
from xmine.evaluation.retrieval.reranked import line_reranker
from xmine.files.reading import read_lines
from xmine.options import load_toml
from xmine.pairs.io import ParallelText
from xmine.progress import silent
from xmine.text.languages import short_code
from xmine.trainer.extend import extend
from xmine.trainer.options.extend import ExtendOptions

RESULTS = Path(__file__).parent / "results" / "packs.json"
OPTIONS = EMBEDDED / PACKS / "options.toml"
BETWEEN = ("el", "sv"), ("bg", "ro"), ("fa", "ur"), ("bn", "ta"), ("fi", "et")
TIMED = "el", "sv", "th", "hi", "vi"
Lines = tuple[list[str], list[str]]


def main() -> None:
    """Train or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--languages", nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", nargs="+", default=[])
    parser.add_argument("--options", type=Path, default=OPTIONS)
    parser.add_argument("--measure", type=Path)
    parser.add_argument("--packs", type=Path, default=EMBEDDED / PACKS)
    parser.add_argument("--json", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.measure:
        write_record(given.json, record(measure(given.measure, given.packs, given.languages)))
        return
    if not given.train or not given.output:
        parser.error("give TRAIN_FOLDER and -o FOLDER, or --measure DATA")
    torch.set_num_threads(1)  # sums of several threads have no order
    given.output.mkdir(parents=True, exist_ok=True)
    encoder = SentenceEncoder.load()
    for language in given.languages or load_toml(given.options)["languages"]:
        started = time.process_time()
        chosen = options_of(load_toml(given.options), language, given.without, given.seed)
        pairs, facts = read_chosen(given.train, language, **chosen)
        weights = {x: chosen["weights"][x] for x in {*pairs.origins} & {*chosen["weights"]}}
        options = ExtendOptions(**chosen["more"], language=language, source_weight=weights)
        pack = extend(encoder, pairs, options, facts=facts)
        pack.write(path := given.output / f"{language}.pack")
        found = *(pack.facts[name] for name in ("pairs", "before", "after")), path.stat().st_size
        print(language, *found, f"{time.process_time() - started:.1f} s", flush=True)


def options_of(
    table: dict[str, Any], language: str, without: Sequence[str], seed: int
) -> dict[str, Any]:
    """Take the options of a language out of those of all."""
    own = dict(table["languages"].get(language, {}))
    weights = table["source_weight"] | own.pop("source_weight", {}) | dict.fromkeys(without, 0.0)
    more = {"also": own.pop("also", []), "letters": own.pop("letters", {})}
    said = {x: y for x, y in table.items() if x not in ("languages", "source_weight")} | own
    return {
        "most": said.pop("most_pairs"),
        "weights": weights,
        "more": {**said, "seed": seed},
        **more,
    }


def read_chosen(
    folder: Path,
    language: str,
    most: int,
    weights: dict[str, float],
    more: dict[str, Any],
    also: Sequence[str],
    letters: dict[str, str],
) -> tuple[ParallelText, dict[str, Any]]:
    """Read the pairs of a language, at most so many, drawn by weight; tell what they are.

    `also` names languages whose pairs are taken for its own once `letters` are read as others.
    """
    every = [(code, end) for code in (language, *also) for end in ("", ".more")]
    paths = [folder / f"en-{code}{end}.tsv.gz" for code, end in every]
    rows = dict.fromkeys(row for path in paths if path.exists() for row in _rows(path, weights))
    listed = list(rows)
    if len(listed) > most:
        shares = np.array([weights.get(row[2], 1.0) for row in listed])
        lots = np.random.default_rng([more["seed"], 6]).random(len(listed)) ** (1 / shares)
        listed = [listed[at] for at in np.sort(np.argsort(-lots, kind="stable")[:most])]
    counts = Counter((source, tier) for _, _, source, tier in listed)
    sources = [
        {"source": source, "tier": tier, "pairs": count, "licence": SOURCES[source]["licence"]}
        for (source, tier), count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]
    english, others, origins = (list(column) for column in list(zip(*listed, strict=True))[:3])
    facts = {"sources": sources, "seed": more["seed"], "options": more}
    facts |= {"letters": letters} if letters else {}
    return ParallelText(english, others, origins, said=("en", language)), facts


def _rows(path: Path, weights: dict[str, float]) -> Iterator[tuple[str, ...]]:
    """Read the rows whose sources have a weight and are known."""
    for line in read_lines(path):
        row = tuple(line.split("\t"))
        if len(row) == 4 and row[2] != "origin" and weights.get(row[2], 1.0):
            if row[2] not in SOURCES:
                raise SystemExit(f"{path}: source {row[2]} is not in bench/sources.tsv")
            yield row


def measure(data: Path, folder: Path, languages: Sequence[str]) -> dict[str, Any]:
    """Measure the packs in a folder."""
    alone = replace(SentenceEncoder.load(), packs={})
    packed = replace(alone, packs=packs_in(folder))
    chosen = [code for code in packed.packs if not languages or code in languages]
    sets = [each for each in aligned(data) if each[1] in chosen]
    figures: dict[str, Any] = {code: {} for code in chosen}
    for name, code, lines in sets:
        for when, encoder in (("before", alone), ("after", packed)):
            found = retrieval(encoder, (code, "en"), lines)
            for kind, value in found.items():
                figures[code].setdefault(name, {}).setdefault(f"{when} {kind}", []).append(value)
    for found in figures.values():
        for name, each in found.items():  # several years of newstest
            found[name] = {kind: round(float(np.mean(many)), 4) for kind, many in each.items()}
    ntrex = {code: lines for name, code, lines in sets if name == "ntrex"}
    between = dict[str, dict[str, float]]()
    for one, other in (pair for pair in BETWEEN if {*pair} <= {*ntrex}):
        for when, encoder in (("before", alone), ("after", packed)):
            found = retrieval(encoder, (one, other), (ntrex[one][0], ntrex[other][0]))
            told = {f"{when} {kind}": round(value, 4) for kind, value in found.items()}
            between.setdefault(f"{one}-{other}", {}).update(told)
    return {"languages": figures, "between": between, "seconds_a_line": seconds(packed, sets)}


def aligned(data: Path) -> Iterator[tuple[str, str, Lines]]:
    """Find texts against English: name of the set, language, the lines of both."""
    folder = data / "eval"
    for path in sorted((folder / "ntrex").glob("*.txt.gz")):
        if (code := path.name.split(".")[0]) != "en":
            yield "ntrex", code, (read_lines(path), read_lines(folder / "ntrex" / "en.txt.gz"))
    for path in sorted((folder / "tatoeba").glob("tatoeba.*-eng.eng")):
        code = re.split(r"[.-]", path.name)[1]
        lines = read_lines(path.with_suffix(f".{code}")), read_lines(path)
        yield "tatoeba", short_code(code), lines
    for path in sorted((folder / "newstest").glob("*.en")):
        for other in path.parent.glob(f"{path.stem}.*"):
            if other != path:
                yield "newstest", other.suffix[1:], (read_lines(other), read_lines(path))
    for path in sorted((folder / "flores101" / "dev").glob("*.dev")):
        if path.stem != "eng":
            code = short_code(path.stem)
            yield "flores101", code, (read_lines(path), read_lines(path.with_name("eng.dev")))


def retrieval(
    encoder: SentenceEncoder, languages: tuple[str, str], lines: Lines
) -> dict[str, float]:
    """Give the accuracy of both directions by vectors, and reranked."""
    readers = with_packs(encoder, *languages)
    rerank = line_reranker(as_pair(encoder), "auto")
    assert rerank is not None
    vectors = readers.source.encode_half(lines[0]), readers.target.encode_half(lines[1])
    chosen = {
        "vectors": nearest_lines(*vectors),
        "reranked": rerank(lines, vectors, languages, silent),
    }
    return {kind: float(hits_of(each).mean()) for kind, each in chosen.items()}


def seconds(encoder: SentenceEncoder, sets: Sequence[tuple[str, str, Lines]]) -> dict[str, Any]:
    """Time encoding without n-grams and with those of a pack, the best of five: CPU seconds."""
    figures = dict[str, Any]()
    tried = {code: (code, lines[0]) for _, code, lines in sets[::-1] if code in TIMED}
    tried |= {f"en as {x}": (x, lines[1]) for _, x, lines in sets[::-1] if x == "sv"}
    for name, (code, lines) in tried.items():
        plain, own = encoder.reading("en"), encoder.reading(code)
        for kind, reader in (("without", plain), ("with", own)):
            taken = []
            for _ in range(5):
                started = time.process_time()
                reader.encode_half(lines)
                taken.append((time.process_time() - started) / len(lines))
            figures.setdefault(name, {"lines": len(lines)})[kind] = float(f"{min(taken):.3g}")
    return figures


if __name__ == "__main__":
    main()
