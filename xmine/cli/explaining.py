"""Words and their counterparts -> rows for a terminal or a pipe, and for JSON."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated
from unicodedata import category

from xmine.cli.arguments import switch
from xmine.cli.console import has_styles, write_rows
from xmine.cli.pair_table import is_terminal
from xmine.display import visible
from xmine.files.records import json_row

if TYPE_CHECKING:
    from xmine.browsing.shared_spans import Shared
    from xmine.browsing.word_alignment import WordAlignment
    from xmine.encoders.pair import EncoderPair
    from xmine.encoders.spans import Span
    from xmine.pairs.pair import Languages, Pair

_DIM, _PLAIN = "\x1b[2m", "\x1b[22m"


EXPLAIN = Annotated[
    bool,
    switch(
        "--explain", "List each word with its counterpart on the other side.", group="Most used"
    ),
]


def print_explained(
    head: list[str],
    pair: "Pair",
    found: "WordAlignment | None",
    shared: "Shared",
    *,
    words: bool,
    without: str = "",
) -> None:
    """Print a pair with what its words find, and what both sides share, below `head`.

    `words` lists every word; `without` is the reason why `found` is None.
    """
    spans: Sequence[Sequence[Span]] = ([], [])
    if found:
        spans = found.unmatched(0, shared.sources), found.unmatched(1, shared.targets)
    write_rows(f"{row}\n" for row in [*head, ""])
    write_rows([f"{text}\n" for text in map(_dimmed, pair[:2], spans)], ready=True)
    said = named_parts("no counterpart", pair, spans) + named_parts("shared", pair, shared)
    said += [f"no words aligned: {without}"] * bool(without)
    said = ["", *said] if said else []
    said += ["", *_word_rows(pair, found)] if words and found else []
    write_rows(f"{row}\n" for row in [*said, ""])


def print_scored(
    rows: "Iterable[Pair]", encoders: "EncoderPair", languages: "Languages", *, as_json: bool
) -> None:
    """Print scored pairs with what their words find, a JSON object each with `as_json`."""
    from xmine.browsing.details import figures_of
    from xmine.browsing.shared_spans import shared_parts
    from xmine.browsing.word_alignment import align_words

    for pair in rows:
        found = align_words(encoders, pair.source, pair.target)
        if as_json:
            write_rows([json_row(pair.facts() | {"words": alignment_facts(pair, found)})])
        else:
            said = [f"flags {pair.flags}"] if pair.flags else []
            head = ["  ".join([*figures_of(pair), *said])]
            shared = shared_parts(pair.source, pair.target, languages)
            print_explained(head, pair, found, shared, words=True)


def _dimmed(text: str, spans: "Sequence[Span]") -> str:
    """Make spans dim where stdout is a terminal with styles; controls are symbols there."""
    if not is_terminal():
        return text
    text, end = visible(text), 0  # a character for each, so that places stay the same
    if not has_styles(terminal=True):
        return text
    parts = []
    for start, stop in spans:
        parts += [text[end:start], _DIM, text[start:stop], _PLAIN]
        end = stop
    return "".join([*parts, text[end:]])


def named_parts(name: str, pair: "Pair", parts: "Sequence[Sequence[Span]]") -> list[str]:
    """Name spans of both texts in a row, without punctuation; no row where there are none."""
    named = []
    for text, spans in zip((pair.source, pair.target), parts, strict=True):
        words = dict.fromkeys(_bare(text[start:end]) for start, end in spans)
        named.append(", ".join(filter(None, words)))
    return [f"{name}: {' | '.join(named)}"] if any(named) else []


def _bare(text: str) -> str:
    """Leave out what stands before the first letter, mark or digit, and behind the last one."""
    places = [at for at, character in enumerate(text) if category(character)[0] in "LMN"]
    return text[places[0] : places[-1] + 1] if places else ""


def _word_rows(pair: "Pair", found: "WordAlignment") -> list[str]:
    """Give each word with its counterpart and their cosine, the same ones once."""
    rows = []
    for side, name in enumerate(("source", "target")):
        text, other = (pair.source, pair.target)[:: 1 if side == 0 else -1]
        told = dict.fromkeys(
            (
                word.cosine,
                text[word.start : word.end],
                other[slice(*word.partner)] if word.partner and word.is_matched else "",
            )
            for word in found.words[side]
            if any(map(str.isalnum, text[word.start : word.end]))
        )
        rows += [f"words of the {name}, cosine and counterpart:"]
        rows += [f"  {cosine:.2f}  {word}  {partner}".rstrip() for cosine, word, partner in told]
    return rows


def alignment_facts(pair: "Pair", found: "WordAlignment") -> dict[str, object]:
    """Give the words of both sides with cosine and counterpart, for JSON."""
    texts = pair.source, pair.target
    return {
        name: [
            {
                **part(texts[side], word.start, word.end),
                "cosine": round(word.cosine, 4),
                "counterpart": part(texts[1 - side], *word.partner) if word.partner else None,
            }
            for word in found.words[side]
        ]
        for side, name in enumerate(("source", "target"))
    }


def part(text: str, start: int, end: int) -> dict[str, object]:
    """Give a part of a text with its place, in characters from 0, for JSON."""
    return {"start": start, "end": end, "text": text[start:end]}
