"""What training did to all languages: an encoder before and after, on sentences made for xmine.

The texts are `examples/languages.tsv`, 100 sentences in nineteen languages, each column against
English. Nearly all of them find their translation among the others, before training as after. So
half of a sentence, every second word of it, is to find the translation, among all sentences and as
many more that begin as one and end as the next. Sentences that were trained on are left out.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.evaluation.reports.bootstrap import figure_of, mean_of_hits
from xmine.evaluation.reports.table import Line, compared
from xmine.evaluation.result import Metric, Result, Row
from xmine.knn.exact import search_exact
from xmine.progress import Progress, Report, silent
from xmine.text.languages import short_code

Texts = Mapping[str, Sequence[str]]  # language -> its sentences, row N of all the same
Vectors = Mapping[str, tuple[NDArray[np.float16], ...]]  # language -> of texts, see `_vectors`

BEFORE, AFTER = "before", "after"
ALL, SENTENCES = "all languages", 100
FEWEST = 50  # sentences that were not trained on, without which nothing is measured
_MOST_TOLD = 6
_KNOWN = 0.5  # of the sentences, at least, have a token that the encoder knows
_WORDS = 4  # of a sentence, at least; of one with fewer, pairs of characters stand for words
# A fall that is told: of all languages, and of a single one.
_FALL, _FALL_OF_ONE = 0.005, 0.02
_QUESTION = "half sentences"
_METRIC = Metric("mean", "found", "share of half sentences whose nearest translates the whole")


def compare_encoders(
    before: Encoders,
    after: Encoders,
    rows: NDArray[np.intp],
    prompt: str = "",
    report: Report = silent,
) -> list[Line]:
    """Measure two encoders in the languages of the second; in all where the first states none.

    Args:
        before, after: the encoders.
        rows: numbers of the sentences that neither was trained on.
        prompt: as of `encode`.
        report: called twice.

    Returns:
        A line of all languages and one for each, with intervals of the figures and of the gain;
        none where there are too few sentences, or the first encoder does not read two of the
        languages.
    """
    texts, stated = languages_of_examples(), set(map(short_code, after.facts.languages))
    texts = {
        code: [texts[code][row] for row in rows]
        for code in texts
        if (code in stated or not before.facts.languages) and len(rows) >= FEWEST
    }
    report(Progress("measuring languages", 0, 2))
    read = {code: before.reading(code).encode_half(texts[code], prompt=prompt) for code in texts}
    texts = {code: texts[code] for code in texts if read[code].any(axis=1).mean() > _KNOWN}
    results = {}
    for done, (name, encoder) in enumerate({BEFORE: before, AFTER: after}.items(), start=1):
        if len(texts) > 1:
            results[name] = {_QUESTION: _measured(_vectors(encoder, texts, prompt))}
        report(Progress("measuring languages", done, 2))
    return compared(results)


def _vectors(encoder: Encoders, texts: Texts, prompt: str) -> Vectors:
    """Encode sentences with their mixtures, their first halves, and their second ones."""
    found = {}
    for code, whole in texts.items():
        mixed = [
            one[: len(one) // 2] + next_one[len(next_one) // 2 :]
            for one, next_one in zip(whole, [*whole[1:], whole[0]], strict=True)
        ]
        first, second = zip(*map(_halves, whole), strict=True)
        reader = encoder.reading(code)
        found[code] = tuple(
            reader.encode_half(each, prompt=prompt) for each in ([*whole, *mixed], first, second)
        )
    return found


def _halves(text: str) -> tuple[str, str]:
    """Part a text: every second word, and the others."""
    words = text.split()
    if len(words) >= _WORDS:
        return " ".join(words[::2]), " ".join(words[1::2])
    pairs = [text[at : at + 2] for at in range(0, len(text), 2)]
    return "".join(pairs[::2]), "".join(pairs[1::2])


def _measured(vectors: Vectors) -> Result:
    """Tell which halves are found, in each language by those of the first and the other way."""
    pivot = "en" if "en" in vectors else next(iter(vectors))
    rows = []
    for code in [each for each in vectors if each != pivot]:
        hits = np.stack(
            [
                search_exact(half, vectors[other][0], k=1).targets[:, 0] == np.arange(len(half))
                for one, other in ((pivot, code), (code, pivot))
                for half in vectors[one][1:]
            ],
            axis=1,
        )  # [sentences, 4]
        rows.append(_row(code, hits))
    whole = _row(ALL, np.concatenate([row.values for row in rows if row.values is not None], 1))
    return Result(_QUESTION, "", "", (_METRIC,), (whole, *rows), (ALL, "mean"), statistic="mean")


def _row(name: str, hits: NDArray[np.bool_]) -> Row:
    figures = {"mean": figure_of(mean_of_hits, hits)}
    return Row(name, len(hits), figures, is_mean=name == ALL, values=hits)


def told(lines: Sequence[Line], known: int = 0) -> tuple[str, str]:
    """Say what became of the figures of all languages, and what fell by more than noise.

    More than noise is a gain whose interval lies below 0, of half a point of all languages or two
    of one. Either text may be empty. `known` is the number of sentences that were left out, as they
    are in the training data.
    """
    left = SENTENCES - known
    if left < FEWEST:
        said = f"no panel of languages: {known} of its {SENTENCES} sentences are in the data"
        return said, ""
    had = f" ({known} more are in the training data)" if known else ""
    whole = "; ".join(_change(line) for line in lines if line.row == ALL)
    lower = [_change(line) for line in lines if _has_fallen(line)]
    most = f", and {len(lower) - _MOST_TOLD} more" if len(lower) > _MOST_TOLD else ""
    fell = f"fell by more than noise: {'; '.join(lower[:_MOST_TOLD])}{most}" if lower else ""
    return f"{left} sentences a language{had}, before -> after (gain): {whole}" * bool(whole), fell


def _has_fallen(line: Line) -> bool:
    now = line.figures[AFTER]
    least = _FALL if line.row == ALL else _FALL_OF_ONE
    return now.verdict == "lower" and (now.gain or 0.0) <= -least


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
