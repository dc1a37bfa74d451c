"""Sentences -> a matrix of their vectors on disk, encoded as it is written; killed, it continues.

Blocks of rows are fixed, so that the bytes depend neither on where a run was cut off nor on how
many threads encode.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import _DIGITS, _VERSION, unchanged
from xmine.engines.parts import write_rows
from xmine.errors import FileError
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import opened
from xmine.hardware import allowed_threads
from xmine.progress import Progress, Report, silent, ticks
from xmine.text.sentences import Sentences
from xmine.vectors import cache
from xmine.vectors.elsewhere import Elsewhere

# Sentences and their vectors [rows, dim], none of them zeros.
Encoded = tuple[Sentences, NDArray[np.float16]]

Block = TypeVar("Block")
Result = TypeVar("Result")


def encode_sentences(
    encoder: SentenceEncoder,
    sentences: Sentences,
    path: Path,
    report: Report = silent,
    prompt: str = "",
    watch: Watch = NOBODY,
    elsewhere: Elsewhere | None = None,
) -> NDArray[np.float16]:
    """Write the vectors of sentences to a file, a row for each, and open it.

    An encoder from a folder continues the part that it left when it was killed, and encodes
    `elsewhere` if that is given. Rows are those of `SentenceEncoder.encode_half`, float16
    [rows, dim]: of length one, or zeros.
    """
    total, size = len(sentences), encoder.texts_at_once
    tick = ticks(report, "encoding", total)

    def encoded(start: int) -> Iterator[NDArray[np.float16]]:
        return _encoded(encoder, sentences.texts, start, report, prompt)

    work = partial(_encoded_in_task, prompt)
    parts = elsewhere.parts(encoder, total, work) if elsewhere else None
    mark = vectors_key(encoder, sentences.digest(), prompt) or ""
    given = path, encoder.dim, np.float16, total, size, encoded
    return write_rows(*given, mark, tick, watch, parts)


def _encoded(
    encoder: SentenceEncoder, texts: Sequence[str], start: int, report: Report, prompt: str
) -> Iterator[NDArray[np.float16]]:
    """Encode texts from one of them on, in blocks."""
    done = start

    def within(progress: Progress) -> None:
        report(Progress("encoding", done + progress.done, len(texts)))

    blocks = blocks_of(encoder, texts, start)
    for block in encode_blocks(encoder, blocks, encoder.encode_half, within, prompt):
        yield block
        done += len(block)


def _encoded_in_task(
    prompt: str, encoder: SentenceEncoder, texts: list[str]
) -> Iterator[tuple[NDArray[np.float16]]]:
    return ((block,) for block in _encoded(encoder, texts, 0, silent, prompt))


def vectors_of(
    encoder: SentenceEncoder,
    sentences: Sentences,
    path: Path,
    report: Report = silent,
    prompt: str = "",
    warn: cache.Warn = cache.unheard,
    watch: Watch = NOBODY,
    elsewhere: Elsewhere | None = None,
    make: Callable[[], object] | None = None,
    *,
    find: bool = True,
) -> NDArray[np.float16]:
    """Find the vectors of sentences in the cache, or encode them and keep them there.

    Arguments, result and errors are those of `encode_sentences`; `warn` is told what is wrong with
    the cache, which changes nothing else. Without `find`, the cache has no part in this. `make`
    is called in place of `encode_sentences`, and writes others beside the file.
    """
    key = vectors_key(encoder, sentences.digest(), prompt) if find else None
    if key is not None and cache.take(key, path, warn, watch):
        return opened(path)
    if make:
        make()
    else:
        encode_sentences(encoder, sentences, path, report, prompt, watch, elsewhere)
    if key is not None:
        cache.keep(key, path, sentences.name, encoder.name, warn)
    return opened(path)


def knows_nothing(name: str) -> FileError:
    """Make the error that an encoder knows no token of a text input."""
    return FileError(
        f"{name}: the encoder knows no token of any line",
        "is the text in another script? give an encoder for it with --model",
    )


def blocks_of(
    encoder: SentenceEncoder, texts: Sequence[str], start: int
) -> Iterator[Sequence[str]]:
    """Give texts from one of them on, as many at once as an encoder takes."""
    size = encoder.texts_at_once
    return (texts[at : at + size] for at in range(start, len(texts), size))


def encode_blocks(
    encoder: SentenceEncoder,
    blocks: Iterable[Sequence[str]],
    encode: Callable[..., NDArray[Any]],
    report: Report = silent,
    prompt: str = "",
) -> Iterator[NDArray[Any]]:
    """Encode blocks of texts as they come, and give their vectors in that order.

    Args:
        encoder: of the texts.
        blocks: of `encoder.texts_at_once` texts each, the last one perhaps of fewer.
        encode: the method `encode` or `encode_half` of the encoder.
        report: told the progress within a block, where blocks take long.
        prompt: put before each text.
    """
    if encoder.encodes_pieces:
        return in_threads(
            blocks, lambda block: unchanged(encoder.source, encode(block, silent, prompt))
        )
    # Torch has threads of its own.
    return (unchanged(encoder.source, encode(block, report, prompt)) for block in blocks)


def in_threads(blocks: Iterable[Block], work: Callable[[Block], Result]) -> Iterator[Result]:
    """Work on blocks in threads, and give the results in the order of the blocks.

    Numpy's products are not to be at work at the same time.
    """
    threads = allowed_threads()
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for block in blocks:
            waiting.append(pool.submit(work, block))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def vectors_key(
    encoder: "SentenceEncoder", digest: str, prompt: str = "", device: str = ""
) -> str | None:
    """Name the vectors of texts; None for an encoder that does not come from a folder."""
    fingerprint = encoder.fingerprint(device)
    if fingerprint is None:
        return None
    facts = [_VERSION, fingerprint, digest, encoder.settings.choose(prompt)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:_DIGITS]
