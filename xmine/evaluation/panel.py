"""What training did to all languages: an encoder before and after, on sentences made for xmine.

The texts are `examples/languages.tsv`, 100 sentences in nineteen languages, each column against
English. They ask: is the translation the nearest sentence; is it found by mining where a part of
both sides has none; is it nearer than a sentence half of which translates, and that than another.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import EncoderPair, Encoders
from xmine.evaluation.options import BuccOptions
from xmine.evaluation.readers.bucc import BuccSplit
from xmine.evaluation.reports.bootstrap import STATISTICS, f1_of_counts
from xmine.evaluation.reports.table import Line, compared
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.aligned import hits_of, nearest_lines
from xmine.evaluation.retrieval.bucc import PROTOCOLS, mine_split
from xmine.progress import Progress, Report, silent
from xmine.text.languages import short_code

Texts = Mapping[str, Sequence[str]]  # language -> its sentences, row N of all the same
Vectors = Mapping[str, NDArray[np.float16]]  # language -> [sentences, dim]

BEFORE, AFTER = "before", "after"
ALL = "all languages"
_MOST_TOLD = 6
_KNOWN = 0.5  # of the sentences, at least, have a token that the encoder knows
_ALONE = 30  # sentences of either side that mining finds without a translation
_QUESTIONS = {
    "retrieval": Metric("mean", "found", "share of sentences whose nearest one translates them"),
    "mining": Metric("f1", "F1", "of the translations among others, at the best threshold"),
    "halves in order": Metric(
        "mean", "in order", "translation before half of it before another sentence"
    ),
}


def compare_encoders(
    before: Encoders, after: Encoders, prompt: str = "", report: Report = silent
) -> list[Line]:
    """Measure two encoders in the languages of the second; in all where the first states none.

    Returns:
        For each question a line of all languages and one for each, with intervals of the figures
        and of the gain; none where the first encoder does not read two of the languages.
    """
    texts, stated = languages_of_examples(), set(map(short_code, after.facts.languages))
    texts = {x: texts[x] for x in texts if x in stated or not before.facts.languages}
    report(Progress("measuring languages", 0, 2))
    read = _vectors(before, texts, prompt)
    texts = {code: texts[code] for code in texts if read[code].any(axis=1).mean() > _KNOWN}
    if len(texts) < 2:
        report(Progress("measuring languages", 2, 2))
        return []
    old = _measured(before, texts, read, prompt)
    report(Progress("measuring languages", 1, 2))
    new = _measured(after, texts, _vectors(after, texts, prompt), prompt)
    report(Progress("measuring languages", 2, 2))
    return compared({BEFORE: old, AFTER: new})


def _vectors(encoder: Encoders, texts: Texts, prompt: str) -> Vectors:
    return {x: encoder.reading(x).encode_half(texts[x], prompt=prompt) for x in texts}


def count_known(columns: Iterable[Sequence[str]]) -> int:
    """Count the sentences that columns of text have in one of the languages."""
    rows = {x: row for each in languages_of_examples().values() for row, x in enumerate(each)}
    return len({rows[text] for column in columns for text in column if text in rows})


def told(lines: Sequence[Line], known: int = 0) -> tuple[str, str]:
    """Say what became of the figures of all languages, and what fell by more than noise.

    More than noise is a gain whose interval lies below 0. Either text may be empty. `known` is the
    number of sentences that are in the training data.
    """
    had = f", {known} of them in the training data" if known else ""
    whole = "; ".join(_change(line) for line in lines if line.row == ALL)
    lower = [_change(line) for line in lines if line.figures[AFTER].verdict == "lower"]
    most = f", and {len(lower) - _MOST_TOLD} more" if len(lower) > _MOST_TOLD else ""
    fell = f"fell by more than noise: {'; '.join(lower[:_MOST_TOLD])}{most}" if lower else ""
    return f"100 sentences a language{had}, before -> after (gain): {whole}" if whole else "", fell


def _change(line: Line) -> str:
    was, now = line.figures[BEFORE], line.figures[AFTER]
    low, high = (f"{100 * end:+.1f}" for end in now.gain_interval or (0.0, 0.0))
    row = "" if line.row == ALL else f" {line.row}"
    shown = f"{line.metric.shown(was.value)} -> {line.metric.shown(now.value)}"
    return f"{line.benchmark}{row} {shown} ({low} to {high})"


def as_facts(lines: Sequence[Line]) -> list[dict[str, object]]:
    """Give the lines as JSON can hold them."""
    return [
        {
            "question": line.benchmark,
            "languages": line.row,
            BEFORE: line.figures[BEFORE].value,
            AFTER: line.figures[AFTER].value,
            "gain": line.figures[AFTER].gain_interval,
            "verdict": line.figures[AFTER].verdict,
        }
        for line in lines
    ]


def languages_of_examples() -> dict[str, list[str]]:
    """Read the sentences: language -> its column."""
    table = (files("xmine.examples") / "languages.tsv").read_text(encoding="utf-8").splitlines()
    codes, *rows = (line.split("\t") for line in table)
    return dict(zip(codes, map(list, zip(*rows, strict=True)), strict=True))


def _measured(encoder: Encoders, texts: Texts, read: Vectors, prompt: str) -> dict[str, Result]:
    pivot = "en" if "en" in texts else next(iter(texts))
    rows: dict[str, list[Row]] = {question: [] for question in _QUESTIONS}
    one = read[pivot]  # [sentences, dim]
    for code in [each for each in texts if each != pivot]:
        reader, two, own = encoder.reading(code), read[code], texts[code]
        # The first half of each text before the second half of the next.
        halves = [
            a[: len(a) // 2] + b[len(b) // 2 :]
            for a, b in zip(own, [*own[1:], own[0]], strict=True)
        ]
        mixed = reader.encode_half(halves, prompt=prompt)
        near_to_far = two, mixed, np.roll(two, -1, axis=0)
        cosines = [(one.astype(np.float32) * each).sum(axis=1) for each in near_to_far]
        for name, hits in (
            ("retrieval", hits_of(nearest_lines(one, two))),
            ("halves in order", np.diff(cosines, axis=0).T < 0),
        ):
            rows[name].append(Row(code, len(hits), {"mean": float(hits.mean())}, values=hits))
        rows["mining"].append(_mined(encoder, (pivot, code), texts, prompt))
    return {name: _result(name, each) for name, each in rows.items()}


def _mined(encoder: Encoders, codes: tuple[str, str], texts: Texts, prompt: str) -> Row:
    """Mine some sentences of each side, the last of the one and the first of the other alone."""
    ids = [str(number) for number in range(len(texts[codes[0]]))]
    first, second = (list(zip(ids, texts[code], strict=True)) for code in codes)
    gold = frozenset((each, each) for each in ids[_ALONE:-_ALONE])
    split = BuccSplit("-".join(codes), (first[:-_ALONE], second[_ALONE:]), gold)
    sides = EncoderPair(*map(encoder.reading, codes))
    options = BuccOptions(rerank="off", prompt=prompt)
    found, *_ = mine_split(sides, split, PROTOCOLS["msimcse"], options, silent)
    counts = found.counts_at(found.best())
    return Row(codes[1], len(gold), {"f1": f1_of_counts(counts)}, values=counts)


def _result(name: str, rows: Sequence[Row]) -> Result:
    """Put what was measured of all languages before the rows of each."""
    metric, values = _QUESTIONS[name], [row.values for row in rows if row.values is not None]
    statistic = metric.name
    together = np.sum(values, axis=0) if statistic == "f1" else np.concatenate(values, axis=1)
    figures = {statistic: STATISTICS[statistic](together)}
    whole = Row(ALL, len(together), figures, is_mean=True, values=together)
    headline = ALL, statistic
    return Result(name, "", "", (metric,), (whole, *rows), headline, statistic=statistic)
