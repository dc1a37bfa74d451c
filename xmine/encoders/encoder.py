"""Sentences -> unit vectors: load, encode and save a sentence encoder.

An encoder is a module that reads text, static or a transformer, and heads that change its vectors
(`xmine.encoders.modules`). Its folder has the layout of sentence-transformers, which opens it with
the same vectors. The embedded one runs on numpy and sentencepiece alone.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.fingerprint import DIGITS, Source, list_files
from xmine.encoders.hub import EMBEDDED as EMBEDDED
from xmine.encoders.hub import find_encoder
from xmine.encoders.layout import HOME, MODULES_FILE, read_modules, write_json
from xmine.encoders.metadata import (
    CARD_FILE,
    EncoderFacts,
    EncoderSettings,
    check_replaceable,
    read_card,
    read_facts,
    read_settings,
    write_facts,
    write_settings,
)
from xmine.encoders.modules.parts import IN_NUMPY, Body, LengthOne, read_body, read_heads
from xmine.encoders.modules.static import WEIGHTS_FILE, StaticEmbedding
from xmine.encoders.packs import PACKS, SUFFIX, Pack, PackedPieces, own_packs, packs_in
from xmine.encoders.reranking import RerankingWeights, read_reranking
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import EncoderError, OptionError
from xmine.files.atomic import replacing_folder
from xmine.files.scratch import temporary_folder
from xmine.hardware import choose_batch_size
from xmine.options import EncodingOptions
from xmine.progress import Progress, Report, bar, silent
from xmine.text.checks import ListOfTexts, as_list, check_texts
from xmine.text.languages import short_code

if TYPE_CHECKING:
    from xmine.encoders.modules.heads import Head

Number = TypeVar("Number", np.float16, np.float32)

# Encoders whose pooling leaves the prompt out, though their folders do not say so; what
# sentence-transformers does for these names.
_WITHOUT_PROMPT = tuple(f"hkunlp/instructor-{size}" for size in ("base", "large", "xl"))


@dataclass(eq=False, repr=False)
class SentenceEncoder:
    """Turns sentences into unit vectors.

    Attributes:
        body: the module that reads text.
        heads: modules that change its vectors, in order; the last step is always length one.
        settings: prompts and truncation.
        facts: languages and method.
        card: the README.
        source: folder, files and name; None for an encoder that was made in memory. Set to None
            when the weights change, or a later run finds the vectors of the old weights.
        guesses: settings that the folder does not state, and the values that were assumed.
        reranking: the weights of candidates that the folder has; None for the defaults.
        packs: the files of further languages, by code; see `readers`.
        reads: of what `readers` gives: the code of its language, and of all that have a pack.
        views: what `readers` has given, by `reads`.
    """

    body: Body
    heads: "Sequence[Head]" = ()
    settings: EncoderSettings = field(default_factory=EncoderSettings)
    facts: EncoderFacts = field(default_factory=EncoderFacts)
    card: str = ""
    source: Source | None = None
    guesses: Sequence[str] = field(default_factory=list)
    reranking: RerankingWeights | None = None
    packs: Mapping[str, Path] = field(default_factory=dict)
    reads: tuple[str, tuple[str, ...]] = ("", ())
    views: "dict[object, SentenceEncoder]" = field(default_factory=dict, init=False)

    @property
    def name(self) -> str:
        """The name that the user gave; empty for an encoder that was made in memory."""
        return self.source.name if self.source else ""

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        width = self.body.dim
        for head in self.heads:
            width = head.width(width)
        return min(width, self.settings.truncated or width)

    def reading(self, language: str) -> "SentenceEncoder":
        """Give the encoder that reads a language: itself, or with its pack where there is one."""
        return self.readers([language])[0]

    def readers(self, languages: Sequence[str]) -> "list[SentenceEncoder]":
        """Give encoders that read each of some languages, by codes or "", and share one table.

        A language that has a pack is read with it. The encoders differ in that alone: vectors are
        of one space, and tokens of any of them are compared by one table.

        Raises:
            EncoderError: a pack is damaged, or was made for another encoder.
        """
        codes = [short_code(language) for language in languages]
        every = tuple(sorted({*codes} & {*self.packs}))
        if not every:
            return [self] * len(codes)
        if any((code, every) not in self.views for code in codes):
            body = self.body
            assert isinstance(body, StaticEmbedding)
            known = body.pieces
            assert isinstance(known, Vocabulary)
            table, tokens, pieces = body.table, body.table, dict[str, PackedPieces]()
            for path in map(self.packs.__getitem__, every):
                pack = Pack.read(path)
                if pack.facts["encoder"] != encoder_digest(self):
                    raise EncoderError(
                        f"{path}: was made for another encoder than {self.name}",
                        "make it again: xmine train --extend ENCODER PAIRS",
                    )
                pieces[pack.facts["language"]] = own = PackedPieces(known, pack, len(table))
                table, tokens = table.before(pack.table), tokens.before(own.tokens(pack.table))
            for code in {*codes, *every}:
                reader = StaticEmbedding(pieces.get(code, known), table, tokens)
                view = replace(self, body=reader, reads=(code, every), packs={})
                self.views[code, every] = view
        return [self.views[code, every] for code in codes]

    @property
    def device(self) -> str:
        """Where it runs."""
        return "cpu" if isinstance(self.body, IN_NUMPY) else str(self.body.model.device)

    @property
    def dtype(self) -> str:
        """The number type it runs in."""
        return "float32" if isinstance(self.body, IN_NUMPY) else self.body.dtype

    @property
    def texts_at_once(self) -> int:
        """Count the texts that are encoded together; no other text changes a bit of theirs."""
        return self.body.texts_at_once

    def fingerprint(self, device: str = "") -> str | None:
        """Hash the files and settings that the vectors depend on, but for texts and prompt.

        The files are those of the folder and, of a transformer, the settings are those in use, or
        those of another `device`. A gigabyte of weights takes a second, once. None for an encoder
        that was made in memory; a FileError where a file was changed since the encoder was loaded.
        """
        if self.source is None:
            return None
        return self._hash(self.source, device)

    def fingerprint_in_memory(self) -> str:
        """Hash what `save` writes, and the settings; for an encoder that has no `fingerprint`."""
        with temporary_folder() as folder:
            self.save(folder)
            return self._hash(Source(folder, list_files(folder), ""), "")

    def _hash(self, source: Source, device: str) -> str:
        facts: list[object] = [source.digests, self.dim]
        body = self.body
        if isinstance(body, StaticEmbedding) and isinstance(body.pieces, PackedPieces):
            facts += body.pieces.marks
        if not isinstance(body, IN_NUMPY):
            device = (device or self.device).partition(":")[0]
            at_once = choose_batch_size(body.batch_size, device)
            facts += [device, body.dtype, at_once, body.cut_at, body.pooling.include_prompt]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:DIGITS]

    @classmethod
    def load(
        cls, model: str | Path = EMBEDDED, options: EncodingOptions | None = None
    ) -> "SentenceEncoder":
        """Load an encoder; without a name, the one that ships with xmine.

        Args:
            model: a folder in the layout of sentence-transformers, a plain transformers
                checkpoint, `embedded`, or a Hugging Face name such as
                `sentence-transformers/LaBSE`, which alone may touch the network.
            options: device, number type, batch size and maximal length.

        Raises:
            EncoderError: it is missing, broken, or asks for what cannot be honoured, by name.
            OptionError: there is no such device.
        """
        folder = find_encoder(model)
        options = options or EncodingOptions()
        modules = read_modules(folder)
        # The files are listed before they are read: a file that changes meanwhile is another one.
        name = "embedded" if folder == EMBEDDED else str(model)
        source = Source(folder, list_files(folder), name)
        body, rest = read_body(modules, options)
        if str(model) in _WITHOUT_PROMPT and not isinstance(body, IN_NUMPY):
            body.pooling.include_prompt = False
        heads, card = read_heads(folder, rest, body.dim), read_card(folder)
        # The embedded encoder loads in 170 ms, to which its digests would add 50: it is checked
        # where a run or the cache hashes the files anyway.
        if source.saved and folder != EMBEDDED:
            _ = source.digests
        guesses = []
        if not (folder / MODULES_FILE).exists():
            pooling = body.describe()["pooling"]
            guesses.append(f"{model}: has no {MODULES_FILE}; {pooling} pooling is assumed")
        facts = read_facts(folder, card)
        packs = find_packs(folder) if isinstance(body, StaticEmbedding) else {}
        facts = replace(facts, languages=tuple(dict.fromkeys([*facts.languages, *packs])))
        more = source, guesses, read_reranking(folder), packs
        return cls(body, heads, read_settings(folder), facts, card, *more)

    def describe(self) -> dict[str, object]:
        """Describe architecture, pooling, prompts, sizes, device and number type, for people."""
        kinds = [*(head.kind for head in self.heads), "Normalize"]
        return {
            **self.body.describe(),
            "heads": " + ".join(kinds),
            "dim": self.dim,
            "prompts": dict(self.settings.texts),
            "default_prompt": self.settings.default,
            "languages": list(self.facts.languages),
            "method": self.facts.method,
            "device": self.device,
            "dtype": self.dtype,
        }

    def __repr__(self) -> str:
        """Name it, its architecture and the width of its vectors."""
        kind = self.body.describe()["architecture"]
        return f"<SentenceEncoder {self.name or 'in memory'}: {kind}, {self.dim} dimensions>"

    def encode(
        self,
        texts: str | ListOfTexts,
        report: Report = silent,
        prompt: str = "",
        *,
        batch_size: int = 0,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = True,
    ) -> NDArray[np.float32]:
        """Encode sentences; the keywords are those of sentence-transformers.

        Args:
            texts: the sentences, or one.
            report: called while it goes on.
            prompt: a text to put before each, or the name of one of the encoder's own.
            batch_size: sentences that a transformer reads at once; 0: as it was loaded.
            show_progress_bar: draw a bar.
            normalize_embeddings: rows always have length one.

        Returns:
            float32 [texts, dim], of one text [dim], rows of length one; a blank text, or one
            without a known token, is a row of zeros. With a static encoder a row depends on its
            text alone, to the last bit; with a transformer, in the last bits, on the length of the
            texts in its batch.

        Raises:
            TypeError: something else than texts is given.
            ValueError: a text has half a character.
            OptionError: there is no prompt of that name, or rows of other lengths are wanted.
            EncoderError: a vector is not finite.
        """
        if not normalize_embeddings:
            raise OptionError("normalize_embeddings is false: vectors always have length one")
        listed, body = [texts] if isinstance(texts, str) else as_list(texts), self.body
        check_texts(listed)
        vectors = np.empty((len(listed), self.dim), dtype=np.float32)
        usual = None if isinstance(body, IN_NUMPY) else body.batch_size
        try:
            if batch_size and not isinstance(body, IN_NUMPY):
                body.batch_size = batch_size
            with bar(report, wanted=show_progress_bar) as told:
                self._encode_into(vectors, listed, told, prompt)
        finally:
            if usual is not None and not isinstance(body, IN_NUMPY):
                body.batch_size = usual
        return vectors[0] if isinstance(texts, str) else vectors

    def similarity(
        self, texts: ListOfTexts | NDArray[np.float32], others: ListOfTexts | NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Give the cosines of all texts, or vectors, with all others: float32 [texts, others]."""

        def vectors(given: ListOfTexts | NDArray[np.float32]) -> NDArray[np.float32]:
            if isinstance(given, np.ndarray) and given.dtype.kind == "f":
                return np.atleast_2d(given)
            return self.encode(as_list(given))

        return vectors(texts) @ vectors(others).T

    def encode_half(
        self, texts: Sequence[str], report: Report = silent, prompt: str = ""
    ) -> NDArray[np.float16]:
        """Encode to the precision in which vectors are searched, in half the memory."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float16)
        return self._encode_into(vectors, texts, report, prompt)

    @property
    def encodes_pieces(self) -> bool:
        """Whether vectors are means of those of the pieces, which no head changes."""
        return isinstance(self.body, StaticEmbedding) and not self.heads

    def encode_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float16], NDArray[np.int32], NDArray[np.int64]]:
        """Cut texts once, and give what `encode_half` gives, then what `body.tokens` gives.

        The encoder is one that `encodes_pieces`, and no text is blank.
        """
        assert isinstance(self.body, StaticEmbedding)
        bags = self.body.bags(texts)
        means = self._unit(self.body.means(bags)).astype(np.float16)
        return means, *self.body.known(*bags[0])

    def _encode_into(
        self, vectors: NDArray[Number], texts: Sequence[str], report: Report, prompt: str
    ) -> NDArray[Number]:
        if isinstance(texts, str):
            raise TypeError("give a list of texts, not a text")
        done = 0
        for rows, block in self.body.embed(texts, self.settings.choose(prompt)):
            vectors[rows] = self._unit(self._through_heads(block))
            done += len(block)
            report(Progress("encoding", done, len(texts)))
        blank = [row for row, text in enumerate(texts) if not text or text.isspace()]
        vectors[blank] = 0
        return vectors

    def _unit(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Keep the first dimensions, where so many are set, and scale rows to length one."""
        block = block[:, : self.settings.truncated]
        if not np.isfinite(block).all():
            who = f"{self.name}:" if self.name else "the encoder"
            raise EncoderError(
                f"{who} gives numbers that are not finite in {self.dtype}",
                "its weights are broken"
                if self.dtype == "float32"
                else "give --dtype float32: its numbers may be too large for this type",
            )
        return normalised(np.ascontiguousarray(block))

    def _through_heads(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self.heads:
            return block
        from xmine.encoders.modules.heads import apply

        changed: NDArray[np.float32] = apply(self.heads, block)
        changed[np.flatnonzero(~block.any(axis=1))] = 0  # a bias makes no vector of zeros
        return changed

    def save(self, folder: str | Path, beside: Iterable[Path] = ()) -> None:
        """Write a folder that `load` and sentence-transformers open; an old one is replaced.

        Packs are copied, unless the weights are others than those of `source`.

        Args:
            folder: appears whole or not at all.
            beside: files to copy into it, such as the options it was trained with.

        Raises:
            FileError: something other than an encoder is there, or it cannot be written.
        """
        folder = Path(folder)
        check_replaceable(folder)
        with replacing_folder(folder) as partial:
            self.body.save(partial)
            kinds = [(self.body.kind, "")]
            for part in [*self.body.parts, *self.heads, LengthOne()]:
                place = f"{len(kinds)}_{part.kind}"
                (partial / place).mkdir()
                part.save(partial / place)
                kinds.append((part.kind, place))
            names = ("idx", "name", "path", "type")
            rows = ((at, str(at), place, HOME + kind) for at, (kind, place) in enumerate(kinds))
            modules = [dict(zip(names, row, strict=True)) for row in rows]
            write_json(partial / MODULES_FILE, modules)
            write_settings(partial, self.settings)
            if self.reranking:
                self.reranking.save(partial)
            if self.card:
                (partial / CARD_FILE).write_text(self.card, encoding="utf-8")
            for path in beside:
                shutil.copy(path, partial)
            fit = self.packs and (partial / WEIGHTS_FILE).read_bytes()
            if fit and hashlib.sha256(fit).hexdigest() == encoder_digest(self):
                (partial / PACKS).mkdir()
                for code, path in self.packs.items():
                    shutil.copy(path, partial / PACKS / f"{code}{SUFFIX}")
            write_facts(partial, self.facts)


def find_packs(folder: Path) -> dict[str, Path]:
    """Find the packs beside an encoder; of the embedded one also those that a user has added."""
    added = packs_in(own_packs()) if folder == EMBEDDED else {}
    return packs_in(folder / PACKS) | added


def encoder_digest(encoder: SentenceEncoder) -> str:
    """Name the weights that a pack belongs to: the digest of the file, which was saved with it."""
    source = encoder.source
    digests = dict(source.saved or source.digests) if source else {}
    return digests.get(WEIGHTS_FILE, "")


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length one, in place; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1).astype(np.float32)[:, None]
    return vectors
