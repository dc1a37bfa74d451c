"""What mining several languages at once takes and finds, against a run for each two by hand.

    python bench/languages.py DATA [--lines 20000] [--json OUT.json]

Time: English, German, Spanish, French and Russian, LINES lines each out of DATA/train, all pairs.
Pairs: FLORES-101 dev, of which each language has a random 40 %, among as many lines of news again;
F1 of `auto` by hand, and with what a third language confirms.
"""

import argparse
import gzip
import json
import random
import tempfile
from itertools import combinations
from pathlib import Path
from time import process_time, time

from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.mining.many_languages import mine_languages
from xmine.mining.pipeline import mine
from xmine.text.by_language import split_by_language

FLORES = {"en": "eng", "de": "deu", "cs": "ces", "ru": "rus", "zh": "zho_simpl"}
NEWS = {
    "en": "newstest/newstest2018.ces-eng.en",
    "de": "newstest/newstest2019.deu-eng.de",
    "cs": "newstest/newstest2019.eng-ces.cs",
    "ru": "newstest/newstest2019.rus-eng.ru",
    "zh": "newstest2019/ref.zh",
}


def write_training_text(data: Path, folder: Path, lines: int) -> list[str]:
    """Write a file of each language; English has a part of what each is the translation of."""
    english = list[str]()
    codes = ["de", "es", "fr", "ru"]
    for code in codes:
        with gzip.open(data / "train" / f"en-{code}.tsv.gz", "rt", encoding="utf-8") as stream:
            rows = [row.split("\t") for row, _ in zip(stream, range(lines), strict=False)]
        english += [row[0] for row in rows[: lines // len(codes)]]
        text = "\n".join(row[1] for row in rows)
        (folder / f"text.{code}").write_text(text + "\n", encoding="utf-8")
    (folder / "text.en").write_text("\n".join(english) + "\n", encoding="utf-8")
    return ["en", *codes]


def measure_time(data: Path, lines: int) -> dict[str, float]:
    """Mine all pairs at once and by hand: CPU-seconds and seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text").mkdir()
        codes = write_training_text(data, folder / "text", lines)
        start, begun = time(), process_time()
        pairs = list(combinations(codes, 2))
        texts = split_by_language(str(folder / "text"), codes)
        mine_languages(texts, pairs, folder / "run")
        at_once, cpu = time() - start, process_time() - begun
        start, begun = time(), process_time()
        for source, target in pairs:
            text, other = (folder / "text" / f"text.{code}" for code in (source, target))
            mine(text, other, run=folder / f"{source}-{target}")
        by_hand, cpu_by_hand = time() - start, process_time() - begun
    return {
        "lines": lines,
        "cpu_seconds": round(cpu, 1),
        "cpu_seconds_by_hand": round(cpu_by_hand, 1),
        "ratio": round(cpu / cpu_by_hand, 3),
        "ratio_of_seconds": round(at_once / by_hand, 3),
    }


def measure_pairs(evaluation: Path, share: float = 0.4) -> dict[str, dict[str, float]]:
    """Mine texts that share some lines: F1 by hand, and with other languages."""
    drawn, numbers = random.Random(1), dict[str, list[int]]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text").mkdir()
        for code, long in FLORES.items():
            every = list(read_lines(evaluation / "flores101" / "dev" / f"{long}.dev"))
            own = [(n, text) for n, text in enumerate(every) if drawn.random() < share]
            news = drawn.sample(list(read_lines(evaluation / NEWS[code])), len(own))
            mixed = own + [(-1, text) for text in news]
            drawn.shuffle(mixed)
            numbers[code] = [n for n, _ in mixed]
            joined = "\n".join(text for _, text in mixed)
            (folder / "text" / f"text.{code}").write_text(joined + "\n", encoding="utf-8")
        pairs = list(combinations(FLORES, 2))
        f1 = dict[str, dict[str, float]]()

        def score(pair: tuple[str, str], found: list[tuple[int, int]]) -> float:
            ours, theirs = (numbers[code] for code in pair)
            right = len((set(ours) & set(theirs)) - {-1})
            hits = sum(ours[x - 1] == theirs[y - 1] >= 0 for x, y in found)
            return round(2 * hits / (len(found) + right), 4)

        texts = split_by_language(str(folder / "text"), list(FLORES))
        mine_languages(
            texts,
            pairs,
            folder / "run",
            told=lambda name, mined: f1.setdefault(name, {}).update(
                together=score(
                    (name[:2], name[3:]),
                    [(r.source_line or 0, r.target_line or 0) for r in mined.pairs.rows()],
                )
            ),
        )
        for pair in pairs:
            text, other = (folder / "text" / f"text.{code}" for code in pair)
            mined = mine(text, other).pairs
            lines = zip(mined.source_lines.tolist(), mined.target_lines.tolist(), strict=True)
            f1["-".join(pair)]["by_hand"] = score(pair, list(lines))
    for name in ("by_hand", "together"):
        f1.setdefault("mean", {})[name] = round(
            sum(f1["-".join(pair)][name] for pair in pairs) / len(pairs), 4
        )
    return f1


def main() -> None:
    """Measure both; print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = {"pairs": measure_pairs(arguments.data / "eval")}
    print(json.dumps(found, indent=2), flush=True)
    result = record({**found, "time": measure_time(arguments.data, arguments.lines)})
    print(json.dumps(result, indent=2))
    if arguments.json:
        write_record(arguments.json, result)


if __name__ == "__main__":
    main()
