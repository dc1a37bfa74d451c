"""Sentences, flags and scores -> the phrases that reports share."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from xmine.display import count
from xmine.flags.names import FLAGS
from xmine.text.folding import MOST_CHARACTERS
from xmine.text.languages import UNKNOWN_LANGUAGE, other_encoder, short_code
from xmine.text.sentences import FEW, Sentences


def flag_counts(flags: Iterable[str | None]) -> dict[str, int]:
    """Count the pairs with each flag that was raised, in the order of FLAGS, then others."""
    raised = Counter(name for each in flags for name in (each or "").split(",") if name)
    return {name: raised[name] for name in (*FLAGS, *sorted(raised)) if raised[name]}


def counted(numbers: dict[str, int]) -> list[str]:
    """Name numbers."""
    return [f"{name} {number:,}" for name, number in numbers.items()]


def told(head: str, parts: Iterable[str], between: str = ", ") -> str:
    """Join parts behind a head; empty without parts."""
    told = between.join(parts)
    return head + told if told else ""


def by_margin(reason: str, rerank: str) -> str:
    """Say why scores are margins; empty where they are not, or where that was asked for."""
    return f"scored by the margin: {reason}" if reason and rerank != "off" else ""


def unknown_to_encoder(side: Sentences) -> list[str]:
    """Warn of sentences that were left out of a side, and name some lines."""
    unit, cut = (
        ("sentence", "") if side.offsets is not None else ("line", "; mine --segment cuts it")
    )
    reasons = (
        ("the encoder knows nothing of", side.unknown, side.unknown_lines, ""),
        (f"{MOST_CHARACTERS:,} characters are exceeded in", len(side.too_long), side.too_long, cut),
    )
    return [
        f"{side.name}: {count(number, unit)} left out: {why} line{'s' * (number > 1)} "
        f"{', '.join(map(str, lines[:FEW]))}{', ...' * (number > len(lines[:FEW]))}{hint}"
        for why, number, lines, hint in reasons
        if number
    ]


def unknown_figures(
    doubts: Sequence[str],
    names: tuple[str, str],
    codes: tuple[str, str],
    known: Sequence[str],
    command: Sequence[str],
) -> str:
    """Say that an estimate means nothing where the encoder was not made for a language.

    Args:
        doubts: why the language of each side is none of the encoder's; empty where it is one.
        names: of both sides.
        codes: of their languages, as given or guessed.
        known: those of the encoder; no doubt counts against one that is given.
        command: its words, which are repeated with an encoder that knows the language.
    """
    sides = zip(names, doubts, codes, strict=True)
    fine = {UNKNOWN_LANGUAGE, *map(short_code, known)}
    beyond = [name for name, doubt, code in sides if doubt and short_code(code) not in fine]
    if not beyond:
        return ""
    said = (
        f"the encoder was not made for the language of {' and '.join(beyond)}: nobody can know the "
        "precision, or how many translations there are; "
    )
    model, install = other_encoder(codes)
    if model:
        said += install and f"`{install}` once, then "
        return f"{said}{as_typed(*command, '--model', model)}: that encoder knows the language"
    return (
        f"{said}`xmine train PAIRS --encoder embedded --languages {','.join(codes)}` makes one "
        "that knows the language, of some thousand pairs such as `xmine align` makes of a book and "
        "its translation"
    )


def as_typed(*words: str) -> str:
    """Quote a command, without the names of lists, which no shell takes."""
    return f"`{shlex.join(('xmine', *(each for each in words if ' list of ' not in each)))}`"


def clamped_warning(clamped: int) -> list[str]:
    """Warn of ratios whose denominator is next to nothing."""
    if not clamped:
        return []
    return [
        f"{count(clamped, 'score')} too high to trust: a sentence with no neighbour at all makes "
        "any ratio large; --margin distance makes none"
    ]
