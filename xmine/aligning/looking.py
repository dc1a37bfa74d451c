"""Two text inputs -> what they are to each other, by a look at some lines, before they are mined.

Texts that share keys are paired by these; texts in one order are aligned; all others are mined.
The look reads lines at the beginning and the end, and in the middle where these disagree. A first
pass of alignment over them gains more than over the same lines read backwards where both texts
are in one order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter

import numpy as np

from xmine.aligning.lines import centred
from xmine.aligning.order import order_gain
from xmine.aligning.scores import lengths_of
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.parts import IN_NUMPY
from xmine.encoders.pair import EncoderPair, as_pair, with_packs
from xmine.scoring.order import in_one_order
from xmine.text.identification import check_both, guess_language
from xmine.text.inputs import TextInput, text_input
from xmine.text.keys import shared_keys
from xmine.text.languages import UNKNOWN_LANGUAGE
from xmine.text.segmentation import segment

# What is done with inputs of each form but lines, which are mined.
_DONE = {
    "order": "their lines are aligned",
    "keys": "texts are paired by these",
    "documents": "those that are versions of each other are aligned",
}
# Lines of the shorter side in a window, and lines before and behind of the other side; fewer lines
# than the last number tell nothing of an order.
_WINDOW, _BESIDE, _FEW = 64, 96, 12
# The gain of texts in one order, in deviations: 2.2 to 19 in novels whose lines are merged and
# split, 9 to 33 in other texts. Shuffled texts gain up to 1.6, those of 40 lines up to 5: whether
# the alignment is better is seen by its result (bench/looking.py --gains). More lines are not
# aligned without being asked for.
_IN_ORDER, _SURE, _MOST_LINES = 2.0, 6.5, 50_000
_PARAGRAPHS = 1.7  # times as many lines: paragraphs and sentences, of which sentences are compared
_FAR = 12  # times as many lines of one side: a chapter and the whole book
_WHOLE = 80  # lines, of which one window is enough
_BACKWARDS = (16,)  # lines turned at once, beside all
_TOLD_BY = 200  # lines that tell a language


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look has seen.

    Attributes:
        form: how the inputs are paired: lines, order, keys or documents.
        what: what was seen, for the user; empty where that is lines, as ever.
        gain: of the order of lines, in deviations; None where that was not looked at.
        keys: the number of keys of both sides; 0 where there are none.
    """

    form: str
    what: str = ""
    gain: float | None = None
    keys: int = 0

    @property
    def is_sure(self) -> bool:
        """Whether an order needs no proof by the alignment."""
        return self.gain is not None and self.gain >= _SURE

    @property
    def said(self) -> str:
        """What was seen, and is done."""
        done = _DONE.get(self.form)
        return f"{self.what}: {done}" if self.what and done else self.what

    def facts(self) -> dict[str, object]:
        """List what was seen, for JSON."""
        gain = None if self.gain is None else round(self.gain, 2)
        return {"as": self.form, "gain_of_order": gain, "keys": self.keys, "said": self.said}


def look(
    inputs: tuple[TextInput, TextInput],
    encoder: SentenceEncoder | EncoderPair,
    stated: tuple[str, str] = ("", ""),
) -> Seen:
    """See what two text inputs are to each other.

    Args:
        inputs: the text inputs.
        encoder: that of the run; a transformer is too slow for a look, and the embedded encoder
            takes its place.
        stated: codes of the languages, empty where none is given.
    """
    names = " and ".join(each.name for each in inputs)
    if not all(each.is_rereadable for each in inputs):
        return Seen("lines")
    if all(each.files for each in inputs):
        return Seen("documents", f"{names} hold documents")
    if any(each.files for each in inputs):
        return Seen("lines")
    if shared := shared_keys(inputs):
        rows = map(set, zip(*shared.values(), strict=True))
        alone = [_texts_beside(each, paired) for each, paired in zip(inputs, rows, strict=True)]
        others = f" ({alone[0]:,} and {alone[1]:,} texts have others or none)" * any(alone)
        return Seen("keys", f"{names} share {len(shared):,} keys{others}", keys=len(shared))
    sizes = [each.survey.lines for each in inputs]
    if max(sizes) > min(_MOST_LINES, _FAR * min(sizes)):
        return Seen("lines")
    pair = as_pair(encoder)
    first = [_lines(each, 0, _TOLD_BY) for each in inputs]
    if 2 * len({*first[0]} & {*first[1]}) > min(map(len, first)):
        return Seen("lines")  # of copies, which mining leaves out
    seen = Seen("order", f"{names} are in one order")
    known = pair.facts.languages
    codes = [code or guess_language(x, known) for code, x in zip(stated, first, strict=True)]
    gain = _gain(inputs, sizes, _static(pair, codes))
    if gain >= _IN_ORDER:
        return replace(seen, gain=gain)
    doubts = check_both([each.name for each in inputs], first, known, stated)
    is_strange = any(doubts) or UNKNOWN_LANGUAGE in codes
    if is_strange and min(map(len, first)) >= _FEW and in_one_order(first[0], first[1]):
        return replace(seen, gain=gain)
    return Seen("lines", gain=gain)


def form_of(source: str, target: str) -> str:
    """Tell the form of two text inputs, as the embedded encoder sees them."""
    return look((text_input(source), text_input(target)), SentenceEncoder.load()).form


def _texts_beside(given: TextInput, rows: set[int]) -> int:
    """Count the texts that are not in some rows."""
    return sum(row not in rows for row, text in enumerate(given.texts()) if text.strip())


def _static(pair: EncoderPair, codes: Sequence[str]) -> EncoderPair:
    """Give encoders of numpy that read both languages: for a look, a transformer is too slow."""
    if not all(isinstance(each.body, IN_NUMPY) for each in pair.sides.values()):
        pair = as_pair(SentenceEncoder.load())
    return with_packs(pair, *codes)


def _lines(given: TextInput, start: int, stop: int) -> list[str]:
    """Read the lines with text from one to before another."""
    return [text for text in islice(given.texts(), start, stop) if text.strip()]


def _gain(inputs: Sequence[TextInput], sizes: Sequence[int], encoders: EncoderPair) -> float:
    """Measure what the order of lines gains at the beginning and the end.

    The lower gain counts; where one of them is enough and one is not, that of the middle decides.
    """
    given = zip(inputs, sizes, encoders.sides.values(), strict=True)
    shorter, longer = sorted(given, key=itemgetter(1))

    def gain_at(place: float) -> float:
        lines, vectors = list[list[str]](), []
        for (given, size, encoder), beside in ((shorter, 0), (longer, _BESIDE)):
            window = round(min(_WINDOW / max(sizes), 1.0) * size)
            start = round(place * (size - window))
            some = _lines(given, max(0, start - beside), start + window + beside)
            if max(sizes) >= _PARAGRAPHS * min(sizes):
                some = [text for line in some for _, text in segment(line, encoder.reads[0])]
            lines.append(some)
            vectors.append(centred(np.asarray(encoder.encode(some), np.float16)))
        if min(map(len, lines)) < _FEW:
            return 0.0
        return order_gain(lengths_of(*lines), (vectors[0], vectors[1]), _BACKWARDS)

    if min(sizes) <= _WHOLE:
        return gain_at(0.0)
    gains = [gain_at(0.0), gain_at(1.0)]
    if (gains[0] < _IN_ORDER) == (gains[1] < _IN_ORDER):
        return min(gains)
    return float(np.median([*gains, gain_at(0.5)]))
