"""Two texts -> the counterpart of each word on the other side, by the tokens of an encoder."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

import numpy as np

from xmine.browsing.opened import Opened
from xmine.browsing.run_encoder import encoders_of, is_fast
from xmine.encoders.pair import EncoderPair, with_packs
from xmine.encoders.spans import Span
from xmine.encoders.token_files import tokens_of
from xmine.errors import EncoderError, XmineError
from xmine.flags.partial import evidence_of
from xmine.pairs.pair import Pair
from xmine.scoring.alignment import Found, Looseness, counterparts_of, loosest_stretches
from xmine.text.identification import check_language
from xmine.text.segmentation import UNSPACED

# A word whose best cosine is lower has no counterpart.
WEAK = 0.34
# Characters of a text that are looked at: the time grows with the square.
_LONGEST = 10_000
_APOSTROPHES = "'’"
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Word(NamedTuple):
    """A word of a text, or what stands between words.

    Attributes:
        start, end: in characters of the text.
        cosine: of the best of its tokens, 0 to 1; 0 where it has none.
        partner: the word of the other text that the best token finds; None where the cosine is 0.
    """

    start: int
    end: int
    cosine: float
    partner: Span | None

    @property
    def is_matched(self) -> bool:
        """Whether the cosine is high enough for a counterpart."""
        return self.cosine >= WEAK


class WordAlignment(NamedTuple):
    """What the words of two texts find on the other side.

    Attributes:
        words: of the source [0] and of the target [1], without white space, in order.
        loosest: the words of each text that find least together, from first to last, see
            `xmine.scoring.alignment`; empty where every token finds something.
        looser: the side, 0 or 1, that `partial` is about if the pair has this flag.
    """

    words: tuple[list[Word], list[Word]]
    loosest: tuple[Span, Span]
    looser: int

    def unmatched(self, side: int, shared: Iterable[Span] = ()) -> list[Span]:
        """Give the spans of a text [0 or 1] without a counterpart; neighbours are joined.

        `shared` are spans that both texts have: no word of theirs is without one.
        """
        spans = list(shared)

        def finds(word: Word) -> bool:
            return word.is_matched or any(a < word.end and word.start < b for a, b in spans)

        runs = [list(words) for found, words in groupby(self.words[side], finds) if not found]
        return [(words[0].start, words[-1].end) for words in runs]


class Aligner:
    """Aligns words with the encoder of a run or, of a file, with the embedded one."""

    def __init__(self, opened: Opened, model: str | None = None) -> None:
        """Take what was opened, and a folder or Hugging Face name. Nothing is loaded yet."""
        self._opened, self._model = opened, model
        self._lock = Lock()
        self._encoders: EncoderPair | None = None
        self._refusal: XmineError | None = None  # told again without another try

    def align(self, source: str, target: str) -> WordAlignment:
        """Align the words of two texts. Any thread may call this.

        Raises:
            XmineError: the encoder is not known, cannot be loaded, or is for other languages; or it
                is two encoders.
        """
        return align_words(self._loaded(), source, target)

    @property
    def is_fast(self) -> bool:
        """Whether it takes no time: with a static encoder."""
        return is_fast(self._opened)

    def align_fast(self, source: str, target: str) -> WordAlignment | None:
        """Align the words of two texts where this takes no time."""
        return self.align(source, target) if self.is_fast else None

    def figures(self, pairs: Sequence[Pair], most: int) -> tuple[Looseness, list[float]]:
        """Give the loosest stretches of pairs, and the cosines of the first ones, at `most`.

        Raises:
            XmineError: as `align`.
        """
        sides = [[each.source[:_LONGEST] for each in pairs], [e.target[:_LONGEST] for e in pairs]]
        each = [*zip(self._loaded().sides.values(), sides, strict=True)]
        tokens = [tokens_of(encoder, texts) for encoder, texts in each]
        left, right = (encoder.encode(texts[:most]) for encoder, texts in each)
        rows = np.arange(len(pairs))
        loose = loosest_stretches(tokens[0], tokens[1], rows, rows).looseness
        return loose, np.einsum("ij,ij->i", left, right).round(4).tolist()

    def _loaded(self) -> EncoderPair:
        with self._lock:
            if self._refusal is not None:
                raise self._refusal
            try:
                self._encoders = self._encoders or self._load()
            except XmineError as error:
                self._refusal = error
                raise
            return self._encoders

    def _load(self) -> EncoderPair:
        opened, pair = self._opened, encoders_of(self._opened, self._model)
        if not opened.is_run:
            for side in (opened.source, opened.target):
                if said := check_language(side.name, side.texts, pair.facts.languages):
                    raise EncoderError(said)
        return comparable(pair, opened.languages)


def comparable(pair: EncoderPair, languages: tuple[str, str]) -> EncoderPair:
    """Give the encoder of both sides, with the packs of their languages.

    Raises:
        EncoderError: there are two.
    """
    pair = with_packs(pair, *languages)
    if not pair.shares_tokens:
        raise EncoderError("tokens of two encoders cannot be compared")
    return pair


@lru_cache(maxsize=64)
def align_words(encoders: EncoderPair, source: str, target: str) -> WordAlignment:
    """Align the words of two texts; only the beginning of very long ones."""
    texts = source[:_LONGEST], target[:_LONGEST]
    each = list(zip(encoders.sides.values(), texts, strict=True))
    tokens = [tokens_of(encoder, [text]) for encoder, text in each]
    spans = [encoder.body.spans(text) for encoder, text in each]
    found = counterparts_of(tokens[0], tokens[1], 0, 0)
    units = [words_of(text, its) for text, its in zip(texts, spans, strict=True)]
    row = np.zeros(1, dtype=np.int64)
    stretches = loosest_stretches(tokens[0], tokens[1], row, row)
    ends = zip(stretches.starts[:, 0].tolist(), stretches.ends[:, 0].tolist(), strict=True)
    loosest = [
        _whole_words(text, words, its[start:end])
        for text, words, its, (start, end) in zip(texts, units, spans, ends, strict=True)
    ]
    return WordAlignment(
        (
            _matched(units[0], spans[0], found[0], units[1], spans[1]),
            _matched(units[1], spans[1], found[1], units[0], spans[0]),
        ),
        (loosest[0], loosest[1]),
        int(evidence_of(stretches.looseness, 0)[:, 0].argmax()),
    )


def _whole_words(text: str, words: list[Span], tokens: list[Span]) -> Span:
    """Give the span of the words that some tokens are parts of, without punctuation around them."""
    met = [words[place] for token in tokens for place in _overlapping(words, token)]
    met = [(start, end) for start, end in met if any(map(str.isalnum, text[start:end]))]
    return (met[0][0], met[-1][1]) if met else (0, 0)


def _matched(
    units: list[Span],
    spans: list[Span],
    found: Found,
    others: list[Span],
    other_spans: list[Span],
) -> list[Word]:
    """Mark each unit of a text by the best of its tokens."""
    cosines, partners = found
    best: dict[int, int] = {}
    for token, span in enumerate(spans):
        for unit in _overlapping(units, span):
            if unit not in best or cosines[token] > cosines[best[unit]]:
                best[unit] = token
    words = []
    for unit, span in enumerate(units):
        token = best.get(unit, -1)
        other = -1 if token < 0 else int(partners[token])
        met = [] if other < 0 else _overlapping(others, other_spans[other])
        cosine = float(cosines[token]) if met else 0.0
        words.append(Word(*span, cosine, others[met[0]] if met else None))
    return words


def _overlapping(units: list[Span], span: Span) -> range:
    """List the units, which stand in order, that share characters with a span."""
    first = bisect_right(units, span[0], key=itemgetter(1))
    return range(first, bisect_left(units, span[1], key=itemgetter(0)))


def words_of(text: str, tokens: Sequence[Span]) -> list[Span]:
    """Cut a text into words, and into tokens where words have no spaces between them."""
    cuts = sorted({place for span in tokens for place in span})
    words: list[Span] = []
    for kind, start, end in _runs(text):
        if kind == "unspaced":
            inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
            words += pairwise([start, *inside, end])
        elif kind != "space":
            words.append((start, end))
    return words


def _runs(text: str) -> Iterator[tuple[str, int, int]]:
    """Cut a text where the kind of its characters changes."""
    kinds = [*map(_kind, text)]
    for place in range(1, len(text) - 1):
        if text[place] in _APOSTROPHES and kinds[place - 1] == kinds[place + 1] == "word":
            kinds[place] = "word"
    for kind, places in groupby(range(len(text)), kinds.__getitem__):
        start, *more = places
        yield kind, start, start + 1 + len(more)


def _kind(character: str) -> str:
    if character.isspace():
        return "space"
    if _UNSPACED.match(character):
        return "unspaced"
    return "word" if unicodedata.category(character)[0] in "LMN" else "between"
