"""Texts in several languages -> the pairs of each two of them, in a run for each two.

The runs stand in one folder, and share the files of their steps: each text is read and encoded
once. Where three languages meet, a pair that follows from two others counts for more; so the pairs
of the first languages are mined a second time, with the neighbours that have been found.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair
from xmine.errors import OptionError
from xmine.files.atomic import replacing, writing
from xmine.files.cache import PARTS
from xmine.files.records import json_row
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.mining.stages import Shared
from xmine.pairs.known import ConfirmedPairs
from xmine.progress import Report, silent
from xmine.run.steps import Steps
from xmine.text.inputs import TextInput

LANGUAGES_FILE = "languages.json"
_LIKELY = 0.9  # pairs of this probability or more speak for others

Languages = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class MinedLanguages:
    """The pairs of two languages.

    Attributes:
        run: the folder of the run.
        facts: of its summary.
        lines: int64 [pairs, 2], of the likely pairs.
        probs: float64 [pairs].
        confirmed: how many of the kept pairs follow from pairs with another language.
    """

    run: Path
    facts: Mapping[str, object]
    lines: NDArray[np.int64]
    probs: NDArray[np.float64]
    confirmed: int

    @classmethod
    def of(cls, run: Path, mined: Mined) -> "MinedLanguages":
        """Keep what other pairs of languages need, not the texts."""
        probs = np.zeros(0) if mined.confidence is None else mined.confidence.probs
        likely = np.flatnonzero(probs >= _LIKELY)
        lines = np.stack([each[likely] for each in mined.candidates.lines()], axis=1)
        confirmed = sum(name is not None for name in mined.pairs.confirmed or ())
        return cls(run, mined.report().facts(), lines, probs[likely], confirmed)


def language_pairs(codes: Sequence[str], asked: str = "english") -> list[Languages]:
    """Choose the pairs of languages to mine.

    Args:
        codes: the languages that are there.
        asked: `english`, all languages with English, or with the first one where there is no
            English; `all`; or pairs such as `en-de,de-fr`.

    Raises:
        OptionError: a pair is none, or has a language that is not there.
    """
    if asked == "all":
        return list(combinations(codes, 2))
    if asked == "english":
        first = "en" if "en" in codes else codes[0]
        return [(first, code) for code in codes if code != first]
    found = list[Languages]()
    for each in asked.split(","):
        source, _, target = each.strip().partition("-")
        if source not in codes or target not in codes or source == target:
            raise OptionError(
                f"--pairs {each}: no pair of {', '.join(codes)}", "english, all, or en-de,de-fr"
            )
        found.append((source, target))
    return found


def mine_languages(
    texts: Mapping[str, TextInput],
    pairs: Sequence[Languages],
    run: Path,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    force: bool = False,
    told: Callable[[str, Mined], object] = lambda name, mined: None,
) -> dict[Languages, MinedLanguages]:
    """Mine pairs of languages, each into `run/SOURCE-TARGET/`.

    Args:
        texts: of each language.
        pairs: of languages, see `language_pairs`.
        run: the folder of all; a killed run goes on.
        encoder, options, report, force: see `mine`.
        told: called with the name of each pair and what was mined, the last time that it is.

    Raises:
        OptionError: `run` is a folder with other files.
        FileError: see `mine`.
    """
    if run.exists() and not (run / LANGUAGES_FILE).exists() and any(run.iterdir()):
        raise OptionError(f"{run}: a folder with other files in it", "give another folder")
    given, options = (
        [(code, text.given) for code, text in texts.items()],
        options or MiningOptions(),
    )
    with writing(run):
        run.mkdir(exist_ok=True)
    _describe(run, dict(given), {})
    shared, found = Shared(Steps(run / PARTS)), dict[Languages, MinedLanguages]()
    encoder = encoder or SentenceEncoder.load()
    again = [  # those that were mined before the pairs that they follow from
        pair
        for at, pair in enumerate(pairs)
        if _between(pair, pairs) and not _between(pair, pairs[:at])
    ]
    for at, pair in enumerate([*pairs, *again]):
        source, target = pair
        place, is_last = run / f"{source}-{target}", at >= len(pairs) or pair not in again
        mined = mine(
            texts[source],
            texts[target],
            encoder,
            replace(options, src_lang=source, tgt_lang=target),
            report,
            confirmed=_following(pair, found),
            run=place,
            force=force,
            shared=replace(shared, writes=is_last),
        )
        found[pair] = MinedLanguages.of(place, mined)
        if is_last:
            told(place.name, mined)
    shared.steps.sweep()
    _describe(run, dict(given), found)
    return found


def _describe(
    run: Path, texts: Mapping[str, str], found: Mapping[Languages, MinedLanguages]
) -> None:
    """Write the languages with their texts, and the facts of each pair."""
    pairs = {each.run.name: {**each.facts, "confirmed": each.confirmed} for each in found.values()}
    with replacing(run / LANGUAGES_FILE) as partial:
        partial.write_text(json_row({"texts": texts, "pairs": pairs}), encoding="utf-8")


def _between(pair: Languages, pairs: Sequence[Languages]) -> list[str]:
    """List the languages that are mined with both."""
    source, target = pair
    known = {frozenset(each) for each in pairs}
    codes = dict.fromkeys(code for each in pairs for code in each if code not in pair)
    return [x for x in codes if {source, x} in known and {x, target} in known]


def _following(pair: Languages, found: Mapping[Languages, MinedLanguages]) -> ConfirmedPairs:
    """Find the pairs that follow from others: by a sentence that both are translations of."""
    probs, names = dict[tuple[int, int], float](), dict[tuple[int, int], list[str]]()
    for code in _between(pair, list(found)):
        there = {}
        for line, between, prob in _turned((pair[0], code), found):
            there[between] = line, prob
        for between, other, prob in _turned((code, pair[1]), found):
            if between in there:
                line, before = there[between]
                both = line, other
                probs[both] = max(probs.get(both, 0.0), before * prob)
                names.setdefault(both, []).append(code)
    lines = np.array(list(probs), np.int64).reshape(-1, 2)
    every = tuple(",".join(names[both]) for both in probs)
    return ConfirmedPairs(lines, np.array(list(probs.values())), by=every)


def _turned(
    pair: Languages, found: Mapping[Languages, MinedLanguages]
) -> Iterator[tuple[int, int, float]]:
    """Give the likely pairs of two languages, in the order that is asked for."""
    one = found[pair] if pair in found else found[pair[1], pair[0]]
    lines = one.lines if pair in found else one.lines[:, ::-1]
    for (first, second), prob in zip(lines.tolist(), one.probs.tolist(), strict=True):
        yield first, second, prob
