"""Options that were not given -> values that follow from how much there is to learn from.

From 205,000 pairs on, these are 2,000 pairs held out, 32,000 pieces, batches of 2,048 and 3 passes.
With fewer pairs, a new encoder learns more from a smaller vocabulary, and from a few hundred steps
in more passes; and with FEW or fewer, an encoder that was trained before is the better start.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from xmine.display import count
from xmine.encoders.hub import find_encoder
from xmine.encoders.layout import read_modules
from xmine.encoders.metadata import read_facts
from xmine.encoders.modules.static import StaticEmbedding
from xmine.errors import TrainingError
from xmine.extras import needs
from xmine.options import without_effect
from xmine.text.folding import nfkc
from xmine.text.languages import language_name, short_code

from ..data.corpus import Corpus
from ..data.rows import weigh_pairs
from ..data.vocabulary import COVERAGE, folding_table
from ..options.contrast import MsimcseOptions
from ..options.shared import AUTO, EMBEDDED, SCRATCH, TrainingOptions

_HELD_OUT, _PIECES, _BATCH, _EPOCHS = 2000, 32_000, 2048, 3  # at most, and passes at least
_MOST_PIECES = 128_000  # of more than two languages, each of which adds 16,000
_FEWEST = 2500  # pieces, or half as many again as there are characters
_FEWEST_HELD_OUT = 500  # of each pair of languages, where these are several
_STEPS, _STEPS_OF_TRAINED = 300, 100  # of a new encoder, and of a trained static one, at least
_TOKEN_DROPOUT = 0.2  # of the latter with few pairs, or it grows too sure of them
_STAGES = ("nli_epochs", "em_epochs")  # whose rows are not those of the pairs
FEW = 100_000  # pairs below which the embedded encoder is the better start
# Options of a new encoder, which therefore ask for one.
NEW = ("architecture", "dim", "layers", "heads", "start", "vocabulary_size", "vocabulary_sample")
OptionsT = TypeVar("OptionsT", bound=TrainingOptions)


def fitted(options: OptionsT, corpus: Corpus) -> OptionsT:
    """Fill in what was left to the data; what was given stays."""
    options = _with_languages(options, corpus)
    _check_languages(options, corpus)
    if options.encoder == AUTO:
        options = replace(options, encoder=_first_encoder(options, corpus))
    if not options.held_out:
        options = replace(options, held_out=_held_out(corpus))
    if makes_vocabulary(options):
        needs("training a vocabulary", "opencc", "google.protobuf")
        if not options.vocabulary_size:
            sentences = sum(map(len, corpus.every_text())) - 2 * count_left_out(corpus, options)
            least = max(_FEWEST, needed_characters(corpus) * 3 // 2)
            most = min(_MOST_PIECES, _PIECES // 2 * len(options.codes))
            size = min(most, max(sentences // 6, least))
            options = replace(options, vocabulary_size=size)
    has_pairs_alone = corpus.pairs is not None and not corpus.texts and not corpus.triplets
    is_few = has_pairs_alone and count_there(corpus, options) < FEW
    if options.token_dropout is None and is_few and _continues_static(options):
        options = replace(options, token_dropout=_TOKEN_DROPOUT)
    rows = count_rows(corpus, options)
    if not options.batch_size:
        eighth = 2 ** int(math.log2(max(2, rows // 8)))
        options = replace(options, batch_size=min(_BATCH, eighth))
    if not options.epochs:
        least = _STEPS_OF_TRAINED if _continues_static(options) else 1
        least = _STEPS if SCRATCH in options.encoders else least
        epochs = max(_EPOCHS, math.ceil(least / max(1, rows // options.batch_size)))
        stages: Any = {name: _EPOCHS for name in _STAGES if getattr(options, name, 1) == 0}
        options = replace(options, epochs=epochs, **stages)
    return options


def _held_out(corpus: Corpus) -> int:
    """Tell how many pairs are held out, or triplets or texts; copies count as one."""
    if corpus.pairs is None:
        if not corpus.triplets:
            return max(2, min(_HELD_OUT, len(set(corpus.texts)) // 6))
        there = len(corpus.triplets[0])
        return max(2, min(_HELD_OUT, there // 6 if there < 2 * _HELD_OUT else _HELD_OUT))
    different, languages = weigh_pairs(corpus.pairs, {}, 1.0), corpus.pairs.languages
    counts = (
        [different[rows].sum() for rows in languages.rows()] if languages else [different.sum()]
    )
    most = max(_FEWEST_HELD_OUT, _HELD_OUT // len(counts)) if languages else _HELD_OUT
    return sum(max(2, min(most, round(float(count)) // 6)) for count in counts)


def _first_encoder(options: TrainingOptions, corpus: Corpus) -> str:
    """Tell what --encoder auto begins with: embedded, where there is little to learn from.

    Not where an option asks for a new encoder, nor where training begins with two encoders, whose
    vectors have to be of one width.
    """
    asks_for_new = any(
        getattr(options, field.name) != field.default
        for field in fields(options)
        if field.name in NEW
    )
    asks_for_new |= isinstance(options, MsimcseOptions) and bool(options.teacher)
    alone = options.encoders == (AUTO,)
    return (
        EMBEDDED if alone and not asks_for_new and count_there(corpus, options) < FEW else SCRATCH
    )


def count_there(corpus: Corpus, options: TrainingOptions) -> int:
    """Count the pairs that there are; without any, the triplets and texts."""
    if corpus.pairs is not None:
        return len(corpus.pairs) - count_left_out(corpus, options)
    return len((corpus.triplets or [()])[0]) + len(corpus.texts)


def _continues_static(options: TrainingOptions) -> bool:
    """Whether all encoders that are trained are static ones that were trained before."""
    learned = zip(options.encoders, options.learning, strict=True)
    names = [name for name, learns in learned if learns]
    return SCRATCH not in names and all(is_static(name, options) for name in names)


def is_static(name: str, options: TrainingOptions) -> bool:
    """Whether an encoder is a static one, new or by its folder; nothing is loaded."""
    if name == SCRATCH:
        return options.architecture == "static"
    return read_modules(find_encoder(name))[0].kind == StaticEmbedding.kind


def _with_languages(options: OptionsT, corpus: Corpus) -> OptionsT:
    """Take the languages that files of pairs say; more may be given, for other data."""
    several = corpus.pairs.languages if corpus.pairs is not None else None
    usual = {field.name: field.default for field in fields(TrainingOptions)}
    if not several:
        said = corpus.pairs.said if corpus.pairs is not None else None
        if said and options.languages == usual["languages"]:
            return replace(options, languages=",".join(said))
        return options
    taught = options.taught_language(several.languages)
    for codes in several.codes:
        if taught and taught not in codes:
            raise TrainingError(
                f"the pairs {'-'.join(codes)} have no {taught}, the language of the teacher",
                f"give pairs of {taught} and another language, or another teacher_language and "
                f"--languages {','.join(several.languages)}",
            )
    more: list[str] = []
    if options.languages != usual["languages"]:
        more = [code for code in options.codes if code not in several.languages]
        missing = [code for code in several.languages if code not in options.codes]
        if missing:
            raise TrainingError(
                f"--languages {options.languages}: the files of PAIRS are in "
                f"{', '.join(several.languages)}",
                "leave it out, or give these and those of other data",
            )
    return replace(options, languages=",".join([*several.languages, *more]))


def _check_languages(options: TrainingOptions, corpus: Corpus) -> None:
    tables, languages = len(corpus.triplets), len(options.codes)
    if tables > languages:
        raise TrainingError(
            f"{tables} tables of --triplets for --languages {options.languages}",
            "name the language of each table",
        )
    several = corpus.pairs.languages if corpus.pairs is not None else None
    paired = len(several.languages) if several else 2
    if languages > paired and corpus.pairs and not corpus.texts and tables < languages:
        raise TrainingError(
            f"--languages {options.languages}: the pairs are in "
            f"{', '.join(several.languages) if several else 'the first two'}, and nothing is in "
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
    data = options.learns_from
    texts = len(corpus.texts) if data != "pairs" else 0
    if texts and corpus.pairs is None and not corpus.triplets:
        return max(1, texts - options.held_out)
    rows = float(len(corpus.triplets[0])) if corpus.triplets and data != "pairs" else 0.0
    if corpus.pairs:
        visited = weigh_pairs(corpus.pairs, options.source_weight, options.default_weight).sum()
        rows += visited * (1 - count_left_out(corpus, options) / len(corpus.pairs))
    rows = max(0.0, rows - options.held_out)
    if data == "texts":
        rows = 2 * rows if not corpus.texts else 0.0
    return max(1, int(rows) + texts)


def count_left_out(corpus: Corpus, options: TrainingOptions) -> int:
    """Count the pairs that `limit_pairs` leaves out."""
    most = options.limit_pairs + options.held_out
    return max(0, len(corpus.pairs or ()) - most) if options.limit_pairs else 0


def remarks_on(asked: TrainingOptions, options: TrainingOptions, corpus: Corpus) -> Iterator[str]:
    """Warn of options without effect, and of few rows for a new encoder.

    `options` are those `asked` for, fitted to the corpus.
    """
    learning = zip(options.encoders, options.learning, strict=True)
    learned = [name for name, learns in learning if learns]
    stage, several = getattr(options, "stage", "all"), corpus.pairs and corpus.pairs.languages
    facts = {
        "a new encoder": SCRATCH in learned,
        "a new transformer": SCRATCH in learned and options.architecture == "transformer",
        "a new vocabulary": makes_vocabulary(options),
        "a transformer that learns": not all(is_static(name, options) for name in learned),
        "a student": stage != "distil",
        "a queue": stage in ("all", "contrast"),
        "another stage than nli": stage != "nli",
        "a contrast of pairs": stage in ("all", "contrast") and not hasattr(options, "ranks"),
        "several files of PAIRS": bool(several),
        "--nli": corpus.labelled is not None,
        "--triplets": bool(corpus.triplets),
    }
    yield from without_effect(asked, facts)
    if makes_vocabulary(options) and (rows := count_there(corpus, options)) < FEW:
        yield (
            f"{count(rows, 'row')} {'is' if rows == 1 else 'are'} few to train an encoder from "
            "scratch: --encoder embedded, or another trained encoder, learns more from so few"
        )


def told_start(asked: TrainingOptions, options: TrainingOptions, corpus: Corpus) -> str:
    """Say that training starts from the embedded encoder, where `auto` came to that; or nothing."""
    if asked.encoder != AUTO or options.encoder != EMBEDDED:
        return ""
    kind = "pair" if corpus.pairs is not None else "row"
    known = {short_code(code) for code in read_facts(find_encoder(EMBEDDED), "").languages}
    unknown = [code for code in options.codes if short_code(code) not in known]
    names = " and no ".join(map(language_name, unknown))
    doubt = f", which knows no {names} (--extend teaches it)" if unknown else ""
    return (
        f"{count(count_there(corpus, options), kind)} are few: training starts from the embedded "
        f"encoder{doubt}; --encoder scratch makes a new one"
    )
