"""An encoder for each side of mining, as dual encoders are trained."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.parts import IN_NUMPY
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.packs import PackedPieces
from xmine.errors import EncoderError
from xmine.options import EncodingOptions
from xmine.text.languages import short_code


@dataclass(frozen=True, slots=True)
class EncoderPair:
    """Two encoders, perhaps the same, one for the lines of each side."""

    source: SentenceEncoder
    target: SentenceEncoder

    def __post_init__(self) -> None:
        """Refuse vectors that cannot be compared."""
        if self.source.dim != self.target.dim:
            raise EncoderError(
                f"{self.source.name} gives vectors of width {self.source.dim}, "
                f"{self.target.name} of width {self.target.dim}",
                "mining compares the vectors: they must have the same dimension",
            )

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return self.source.dim

    @property
    def shares_tokens(self) -> bool:
        """Whether the tokens of both can be compared: of one encoder, perhaps with packs."""
        one, other = self.source.body, self.target.body
        if isinstance(one, StaticEmbedding) and isinstance(other, StaticEmbedding):
            return one.table is other.table
        return self.source is self.target

    @property
    def packs(self) -> dict[str, str]:
        """The languages that are read with a pack, and the digest of that."""
        pieces = ((x.reads[0], getattr(x.body, "pieces", None)) for x in self.sides.values())
        return {code: x.digest for code, x in pieces if isinstance(x, PackedPieces)}

    @property
    def sides(self) -> dict[str, SentenceEncoder]:
        """The encoders by the names of their sides."""
        return {"source": self.source, "target": self.target}

    def reading(self, language: str) -> SentenceEncoder:
        """Give the encoder that reads a language, with its pack; for no code that of the source.

        One reads English or, where none says that it knows English, the first language that the
        source states; the other reads all other languages. Training writes all languages into both
        folders, that of the source first: so English is for the target if it knows English and the
        source states another language first.
        """
        stated = [short_code(code) for code in self.source.facts.languages]
        others = [short_code(code) for code in self.target.facts.languages]
        first = "en" if "en" in stated + others or not stated else stated[0]
        is_turned = first == "en" and "en" in others and stated[:1] not in ([], ["en"])
        of_source = not language or (short_code(language) == first) != is_turned
        return (self.source if of_source else self.target).reading(language)

    def repool(self, mode: str) -> None:
        """Make sentence vectors another way; see `Transformer.repool`."""
        for each in dict.fromkeys(self.sides.values()):
            if isinstance(each.body, IN_NUMPY):
                raise EncoderError(f"{mode} pooling is for transformers", "leave it out")
            each.heads = each.body.repool(mode, each.heads)

    @property
    def facts(self) -> EncoderFacts:
        """The languages of both encoders in order, each once; the method of the source."""
        stated = self.source.facts.languages + self.target.facts.languages
        return EncoderFacts(tuple(dict.fromkeys(stated)), self.source.facts.method)

    @property
    def name(self) -> str:
        """The names that the user gave."""
        one, other = self.source.name, self.target.name
        return one if self.shares_tokens else f"{one} and {other}"


def encoder_facts(encoder: SentenceEncoder) -> dict[str, object]:
    """List the facts of an encoder that its vectors depend on, for the record of an output."""
    facts = encoder.describe()
    names = ("architecture", "pooling", "default_prompt", "device", "dtype")
    return {
        "model": encoder.name,
        **{name: facts[name] for name in names},
        "max_length": getattr(encoder.body, "cut_at", None),
        "batch_size": getattr(encoder.body, "sentences_at_once", None),
        "guessed": encoder.guesses,
    }


def pair_facts(
    pair: EncoderPair, facts: Callable[[SentenceEncoder], dict[str, object]] = encoder_facts
) -> dict[str, object]:
    """List the facts of the one encoder of both sides, or those of each side's encoder."""
    if pair.shares_tokens:
        return facts(pair.source) | ({"packs": pair.packs} if pair.packs else {})
    return {"model": pair.name, **{side: facts(each) for side, each in pair.sides.items()}}


def is_pair(folder: str | Path) -> bool:
    """Tell whether a folder holds an encoder for each side, in `source` and `target`."""
    return all((Path(folder) / side / "modules.json").is_file() for side in ("source", "target"))


# What evaluation reads with: both give the encoder that is `reading` a language.
Encoders = SentenceEncoder | EncoderPair


def as_pair(encoder: Encoders) -> EncoderPair:
    """Take one encoder for both sides.

    Raises:
        TypeError: something else than an encoder is given, such as its name.
    """
    if isinstance(encoder, EncoderPair):
        return encoder
    if not isinstance(encoder, SentenceEncoder):
        raise TypeError(f"{encoder!r} is no encoder: give SentenceEncoder.load(FOLDER_OR_NAME)")
    return EncoderPair(encoder, encoder)


def with_packs(encoder: Encoders, source: str, target: str) -> EncoderPair:
    """Give encoders that read two languages, by codes or "", with the packs that one encoder has.

    Two encoders stay as they are: each reads its side.
    """
    pair = as_pair(encoder)
    if pair.source is not pair.target:
        return pair
    return EncoderPair(*pair.source.readers([source, target]))


def load_encoders(name: str | None, options: EncodingOptions) -> EncoderPair:
    """Load the encoders of both sides: two where a folder holds two, else one for both.

    Raises:
        EncoderError: see `SentenceEncoder.load`.
    """
    if name and is_pair(name):
        folders = (str(Path(name) / side) for side in ("source", "target"))
        return EncoderPair(*(SentenceEncoder.load(each, options) for each in folders))
    return as_pair(SentenceEncoder.load(EMBEDDED if name is None else name, options))
