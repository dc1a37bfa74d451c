"""Options that were not given -> values that follow from how much there is to learn from.

From 205,000 pairs on, these are 2,000 pairs held out, 32,000 pieces, batches of 2,048 and 3 passes.
With fewer pairs, a new encoder learns more from a smaller vocabulary, and from a few hundred steps
in more passes (`python bench/few_pairs.py`).
"""

import math
from collections import Counter
from dataclasses import replace
from typing import Any, TypeVar

from xmine.errors import TrainingError
from xmine.extras import needs
from xmine.text.nfkc import nfkc

from ..data.corpus import Corpus
from ..data.rows import weigh_pairs
from ..data.vocabulary import COVERAGE, folding_table
from ..options.shared import SCRATCH, TrainingOptions

_HELD_OUT, _PIECES, _BATCH, _EPOCHS = 2000, 32_000, 2048, 3  # at most, and passes at least
_FEWEST = 2500  # pieces, or half as many again as there are characters
_STEPS = 300  # of a new encoder, at least
_STAGES = ("nli_epochs", "em_epochs")  # whose rows are not those of the pairs
FEW = 20_000  # pairs below which a new encoder finds hardly anything
OptionsT = TypeVar("OptionsT", bound=TrainingOptions)


def fitted(options: OptionsT, corpus: Corpus) -> OptionsT:
    """Fill in what was left to the data; what was given stays."""
    _check_languages(options, corpus)
    if not options.held_out:
        there = corpus.pairs if corpus.pairs is not None else (corpus.triplets or [()])[0]
        scarce = corpus.pairs is not None or len(there) < 2 * _HELD_OUT
        few = len(there) // 6 if scarce else _HELD_OUT
        options = replace(options, held_out=max(2, min(_HELD_OUT, few)))
    if makes_vocabulary(options):
        needs("training a vocabulary", "opencc", "google.protobuf")
        if not options.vocabulary_size:
            sentences = sum(map(len, corpus.every_text())) - 2 * count_left_out(corpus, options)
            least = max(_FEWEST, needed_characters(corpus) * 3 // 2)
            size = min(_PIECES, max(sentences // 6, least))
            options = replace(options, vocabulary_size=size)
    rows = count_rows(corpus, options)
    if not options.batch_size:
        eighth = 2 ** int(math.log2(max(2, rows // 8)))
        options = replace(options, batch_size=min(_BATCH, eighth))
    if not options.epochs:
        wanted = math.ceil(_STEPS / max(1, rows // options.batch_size))
        epochs = max(_EPOCHS, wanted) if SCRATCH in options.encoders else _EPOCHS
        stages: Any = {name: _EPOCHS for name in _STAGES if getattr(options, name, 1) == 0}
        options = replace(options, epochs=epochs, **stages)
    return options


def _check_languages(options: TrainingOptions, corpus: Corpus) -> None:
    tables, languages = len(corpus.triplets), len(options.codes)
    if tables > languages:
        raise TrainingError(
            f"{tables} tables of --triplets for --languages {options.languages}",
            "name the language of each table",
        )
    if languages > 2 and corpus.pairs and not corpus.texts and tables < languages:
        raise TrainingError(
            f"--languages {options.languages}: the pairs are in the first two, and nothing is in "
            "the others",
            "give --texts or, to msimcse, --triplets in the others",
        )


def makes_vocabulary(options: TrainingOptions) -> bool:
    """Whether an encoder is new and begins with no vocabulary of another."""
    return SCRATCH in options.encoders and not options.start


def needed_characters(corpus: Corpus) -> int:
    """Count the characters that a vocabulary must have: the most frequent, COVERAGE of all."""
    found: Counter[str] = Counter()
    for column in corpus.every_text():
        for text in column:
            found.update(text)
    folded: Counter[str] = Counter()
    for character, times in found.items():
        for each in nfkc(character).translate(folding_table()):
            folded[each] += times
    missing, needed = folded.total() * COVERAGE, 0
    for _, times in folded.most_common():
        if missing <= 0:
            break
        missing -= times
        needed += 1
    return needed


def count_rows(corpus: Corpus, options: TrainingOptions) -> int:
    """Count the rows of a pass, of the first stage where there are several."""
    data = options.stages[0].data
    rows = float(len(corpus.triplets[0])) if corpus.triplets and data != "pairs" else 0.0
    if corpus.pairs:
        visited = weigh_pairs(corpus.pairs, options.source_weight, options.default_weight).sum()
        rows += visited * (1 - count_left_out(corpus, options) / len(corpus.pairs))
    rows = max(0.0, rows - options.held_out)
    if data == "texts":
        rows = 2 * rows if not corpus.texts else 0.0
    return max(1, int(rows) + (len(corpus.texts) if data != "pairs" else 0))


def count_left_out(corpus: Corpus, options: TrainingOptions) -> int:
    """Count the pairs that `--limit-pairs` leaves out."""
    most = options.limit_pairs + options.held_out
    return max(0, len(corpus.pairs or ()) - most) if options.limit_pairs else 0
