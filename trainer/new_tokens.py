"""An encoder and texts of a language that it does not know -> the encoder with tokens of these."""

from pathlib import Path

from xmine.browsing.opened import Opened
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import TrainingError
from xmine.text.languages import short_code
from xmine.text.packed import picked

from .data.rows import drawn
from .data.vocabulary import extended_vocabulary
from .models.static import extended_static
from .options.adapt import AdaptOptions

_NEW_TOKENS, _SAMPLE = 8000, 500_000  # tokens, and sentences that they are learnt from


def with_new_tokens(
    run: Opened, encoder: SentenceEncoder, name: str, folder: Path, options: AdaptOptions
) -> str:
    """Add tokens of a run's texts to an encoder, and name the encoder to begin with.

    Args:
        run: its texts.
        encoder: that made the vectors of the run.
        name: of the encoder.
        folder: where the encoder with more tokens is kept.
        options: how many tokens; without a number, none where the encoder knows both languages.

    Raises:
        TrainingError: a number is given for an encoder that takes no more tokens.
    """
    sides = zip((run.source, run.target), run.languages, strict=True)
    known = set(map(short_code, encoder.facts.languages or run.languages))
    foreign = [side for side, language in sides if short_code(language) not in known]
    pieces = encoder.body.pieces if isinstance(encoder.body, StaticEmbedding) else None
    count = options.new_tokens
    if count is None:
        count = _NEW_TOKENS if foreign and isinstance(pieces, Vocabulary) else 0
    if not count:
        return name
    if not isinstance(pieces, Vocabulary):
        raise TrainingError(
            f"--new-tokens: {name} is no static encoder with a vocabulary of xmine", "leave it out"
        )
    if not folder.exists():
        texts = [text for side in foreign or (run.source, run.target) for text in side.texts]
        some = picked(texts, drawn(len(texts), _SAMPLE, options.seed))
        try:
            vocabulary = extended_vocabulary(pieces, some, count)
        except TrainingError as error:
            hint = error.hint.replace("--vocabulary-size", "--new-tokens")
            raise TrainingError(error.message, hint) from error
        extended_static(encoder, vocabulary, options.seed).save(folder)
    return str(folder)
