"""Sentences -> their vectors and tokens, in files of a step, a file for each block of texts.

A block is named by its texts, so that a text input that has grown needs its new blocks alone. Of a
static encoder the tokens of a block are read with the vectors.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import DIGITS, VERSION, unchanged
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.recipe import Recipe
from xmine.errors import FileError
from xmine.files import scratch
from xmine.files.cache import Cache
from xmine.progress import Progress, Report, silent, ticks
from xmine.run.local import LocalEngine
from xmine.run.steps import Blocks, Files, Steps, joined, parts_of
from xmine.run.task import Engine, Task
from xmine.run.texts import TextFiles
from xmine.text.sentences import Sentences

# Sentences and their vectors [rows, dim], none of them zeros.
Encoded = tuple[Sentences, NDArray[np.float16]]

# Gives an encoder, and texts, in a task.
OpenEncoder = Callable[[], SentenceEncoder]
OpenTexts = Callable[[], Sequence[str]]

VECTORS: dict[str, type[np.generic]] = {"vectors": np.float16, "known": np.bool_}


def token_arrays(encoder: SentenceEncoder) -> dict[str, type[np.generic]]:
    """Name the arrays of tokens: pieces or vectors, and how many of them each text has."""
    is_static = isinstance(encoder.body, StaticEmbedding)
    return {"tokens": np.int32 if is_static else np.int16, "lengths": np.int64}


@dataclass(frozen=True, slots=True)
class EncodedFiles:
    """The files that have the vectors of a side.

    Attributes:
        files: for each block the vectors of the known texts, float16 [known, dim], and which texts
            are known, bool [texts]; perhaps the tokens of the known texts behind them.
        tokens: whether these are there.
    """

    files: Files
    tokens: bool = False

    @property
    def key(self) -> str:
        """Name the vectors: blocks of other texts or of another encoder have other names."""
        return " ".join(paths[0].name for paths in self.files)

    def known(self) -> NDArray[np.bool_]:
        """Tell which texts have a vector, bool [texts]."""
        return joined(self.files, 1, np.bool_)

    def blocks(self) -> Blocks:
        """Give the vectors of the known texts, block by block."""
        return ((part,) for part in parts_of(self.files, 0, np.float16))

    def joined(self) -> NDArray[np.float16]:
        """Give the vectors of the known texts as one array."""
        return joined(self.files, 0, np.float16)

    def every(self) -> NDArray[np.float16]:
        """Give the vectors of all texts, zeros for those that are not known."""
        known, vectors = self.known(), self.joined()
        if known.all():
            return vectors
        whole = scratch.empty((len(known), vectors.shape[1]), np.float16)
        whole[:] = 0
        whole[known] = vectors
        return whole


def encode_sentences(
    encoder: SentenceEncoder,
    sentences: Sentences,
    steps: Steps,
    report: Report = silent,
    prompt: str = "",
    *,
    tokens: bool = False,
    cache: Cache | None = None,
    prepare: Callable[[], object] = lambda: None,
    keep: bool = True,
) -> EncodedFiles:
    """Encode sentences, or find their vectors, see `SentenceEncoder.encode_half`.

    Args:
        prompt: put before each text.
        steps, keep: make the files; whether these outlast a sweep.
        tokens: read the tokens, too, of an encoder that `encodes_pieces`, without a prompt.
        cache: may have the vectors; static encoders are as fast without it.
        prepare: called before sentences are encoded.
    """
    arrays = {**VECTORS, **token_arrays(encoder)} if tokens else VECTORS
    work: Callable[..., Blocks] = _encode_and_read if tokens else _encode
    cache = None if encoder.encodes_pieces else cache
    told = report, "encoding", prepare
    files = _make(encoder, sentences, steps, arrays, work, *told, prompt, cache, keep=keep)
    return EncodedFiles(files, tokens)


def read_tokens(
    encoder: SentenceEncoder, sentences: Sentences, steps: Steps, report: Report = silent
) -> Files:
    """Read the tokens of sentences; prompts and heads of the encoder have no part in this.

    Returns:
        for each block what `body.tokens` gives; a sweep deletes the files of a transformer.
    """
    arrays = token_arrays(encoder)
    keep = isinstance(encoder.body, StaticEmbedding)  # a transformer's take 1.5 KB each
    return _make(encoder, sentences, steps, arrays, _read, report, "reading tokens", keep=keep)


def token_names(encoder: SentenceEncoder, sentences: Sentences, steps: Steps) -> Files:
    """Name the files that `read_tokens` makes."""
    rows = range(0, len(sentences), encoder.texts_at_once)
    return steps.files(token_arrays(encoder), _made_of(encoder, sentences, steps), rows)


def _made_of(
    encoder: SentenceEncoder, sentences: Sentences, steps: Steps, prompt: str = ""
) -> Callable[[int, int], list[str]]:
    """Name a block by encoder, prompt and texts."""
    packed, name = sentences.packed, encoder_mark(encoder, steps, prompt)
    return lambda start, stop: [name, packed.digest(start, stop)]


def encoder_mark(encoder: SentenceEncoder, steps: Steps, prompt: str = "") -> str:
    """Name an encoder and a prompt in what a step is made of."""
    if (mark := vectors_key(encoder, prompt)) is None:
        own = encoder.fingerprint_in_memory() if steps.kept else str(id(encoder))
        mark = f"{own} {prompt}".strip()
    return mark


def _make(
    encoder: SentenceEncoder,
    sentences: Sentences,
    steps: Steps,
    arrays: dict[str, type[np.generic]],
    work: Callable[..., Blocks],
    report: Report,
    stage: str,
    prepare: Callable[[], object] = lambda: None,
    prompt: str = "",
    cache: Cache | None = None,
    *,
    keep: bool = True,
) -> Files:
    """Let `work` make the arrays of all blocks that are missing."""
    rows = range(0, len(sentences), encoder.texts_at_once)
    tick = ticks(report, stage, len(sentences))
    engine: Engine = LocalEngine()
    maker = partial(work, lambda: encoder, lambda: sentences.texts, prompt, report)
    task: Callable[..., Task] = partial(Task, in_threads=encoder.encodes_pieces)
    if steps.engine.shared and (recipe := Recipe.of(encoder)):
        engine, task = steps.engine, partial(Task, gpus=recipe.gpus)
        maker = partial(work, recipe.load, TextFiles.write(sentences, steps).open, prompt, silent)
    return steps.make(
        arrays,
        _made_of(encoder, sentences, steps, prompt),
        rows,
        maker,
        tick,
        task=task,
        engine=engine,
        prepare=prepare,
        cache=cache,
        keep=keep,
    )


def _encode(
    encoder: OpenEncoder, texts: OpenTexts, prompt: str, report: Report, start: int, stop: int
) -> Blocks:
    """Encode some texts: the vectors of the known ones, and which these are."""
    model, every = encoder(), texts()

    def within(progress: Progress) -> None:
        report(Progress("encoding", start + progress.done, len(every)))

    told = silent if model.encodes_pieces else within
    vectors = unchanged(model.source, model.encode_half(every[start:stop], told, prompt))
    known = _known(vectors)
    yield vectors[known], known


def _encode_and_read(
    encoder: OpenEncoder, texts: OpenTexts, _: str, __: Report, start: int, stop: int
) -> Blocks:
    """Encode and read some texts: vectors, which texts are known, tokens, their numbers."""
    model = encoder()
    found = model.encode_with_tokens(texts()[start:stop])
    vectors, tokens, numbers = unchanged(model.source, found)
    known = _known(vectors)
    yield vectors[known], known, tokens[np.repeat(known, numbers)], numbers[known]


def _known(vectors: NDArray[np.float16]) -> NDArray[np.bool_]:
    """Tell which texts have a token that the encoder knows: others are rows of zeros."""
    return np.asarray(vectors.any(axis=1))


def _read(
    encoder: OpenEncoder, texts: OpenTexts, _: str, __: Report, start: int, stop: int
) -> Blocks:
    """Read the tokens of some texts: tokens, and their number in each text."""
    model = encoder()
    yield unchanged(model.source, model.body.tokens(texts()[start:stop]))


def knows_nothing(name: str) -> FileError:
    """Make the error that an encoder knows no token of a text input."""
    return FileError(
        f"{name}: the encoder knows no token of any line",
        "is the text in another script? give an encoder for it with --model",
    )


def vectors_key(encoder: SentenceEncoder, prompt: str = "", device: str = "") -> str | None:
    """Name encoder and prompt; None for an encoder that does not come from a folder."""
    fingerprint = encoder.fingerprint(device)
    if fingerprint is None:
        return None
    facts = [VERSION, fingerprint, encoder.settings.choose(prompt)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:DIGITS]
