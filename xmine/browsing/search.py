"""A typed sentence -> the nearest sentences of both sides of a run or of a file of pairs.

A run has vectors, and the encoder that made them encodes the sentence. A file of pairs has none:
its texts are encoded when they are first searched.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.opened import Opened
from xmine.browsing.run_encoder import encoders_of
from xmine.encoders.pair import EncoderPair, with_packs
from xmine.errors import FileError, OptionError
from xmine.files.npy import open_matrix
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import MEMORY, search_few
from xmine.mining.reranking import token_encoders
from xmine.mining.search import Hit, HitChoice
from xmine.options import EncodingOptions
from xmine.progress import Report, silent
from xmine.text.identification import tell_apart

SIDES = ("source", "target")


class NoTokenError(OptionError):
    """The encoder knows no token of a text."""


@dataclass(slots=True)
class Nearby:
    """Searches a run or a file of pairs for the sentences nearest to a text.

    `model` and `options` are those of the encoder; of a run the ones it was made with if left out,
    of a file the embedded encoder.
    """

    opened: Opened
    model: str | None = None
    options: EncodingOptions | None = None
    _pair: EncoderPair | None = field(default=None, init=False)
    _vectors: dict[str, NDArray[np.float16]] = field(default_factory=dict, init=False)

    def encoders(self) -> EncoderPair:
        """Load what reads the sentence, once."""
        if self._pair is None:
            pair = encoders_of(self.opened, self.model, self.options)
            self._pair = with_packs(pair, *self.opened.languages)
        return self._pair

    def vectors(self, side: str, report: Report = silent) -> NDArray[np.float16]:
        """Give the vectors of a side, [sentences, dim]: those of the run, or newly made ones."""
        if side not in self._vectors:
            if self.opened.is_run:
                self._vectors[side] = run_vectors(self.opened, side)
            else:
                encoder, texts = self.encoders().sides[side], self.opened.side(side).texts
                self._vectors[side] = encoder.encode_half(texts, report)
        return self._vectors[side]

    def search(
        self,
        text: str,
        k: int = 10,
        *,
        exclude_exact: bool = False,
        rerank: str = "auto",
        prompt: str | None = None,
        report: Report = silent,
    ) -> dict[str, list[Hit]]:
        """Find the k nearest sentences of both sides, best first.

        `exclude_exact` leaves out the text itself, as `xmine.text.sentences.folded` tells it;
        `rerank` is `auto`, `tokens` or `off`, see `xmine.mining.reranking.token_encoders`; `prompt`
        is put before the text, that of the run if left out.

        Raises:
            NoTokenError: the encoder knows nothing of the text.
        """
        if not text.strip():
            raise OptionError("the text to search for is empty")
        choice = HitChoice(k, token_encoders(self.encoders(), rerank), exclude_exact)
        query, found = self._encoded(text, prompt), dict[str, list[Hit]]()
        for name in SIDES:
            side, vectors = self.opened.side(name), self.vectors(name, report)
            rows, cosines = nearest_rows(query, vectors, choice.depth([text], side.texts))
            (hits,) = choice.choose([text], side.texts, rows[None], cosines[None])
            found[name] = []
            for rank, (row, cosine, score) in enumerate(hits, start=1):
                line, offset = side.place(row)
                hit = Hit(rank, cosine, side.texts[row], line, score, name, row, offset)
                found[name].append(hit)
        return found

    def _encoded(self, text: str, prompt: str | None) -> NDArray[np.float16]:
        """Encode the text, [1, dim], with the encoder of the side whose language it is in."""
        pair, languages = self.encoders(), self.opened.languages
        known = [code for code in languages if code != "und"]
        is_target = languages[0] != languages[1] and tell_apart(text, known) == languages[1]
        side = "target" if is_target else "source"
        if prompt is None:
            given = self.opened.summary.get("options", {})
            prompt = str(given.get("tgt_prompt" if is_target else "src_prompt", ""))
        query = pair.sides[side].encode_half([text], prompt=prompt)
        if not query.any():
            raise NoTokenError(
                f"{text[:60]!r}: the encoder knows no token of it", "is the text in another script?"
            )
        return query


def run_vectors(opened: Opened, side: str) -> NDArray[np.float16]:
    """Open the vectors that a run has kept of a side, [sentences, dim], without reading them."""
    path = opened.path / f"{side}.npy"
    vectors = open_matrix(path)
    if vectors is None or len(vectors) != len(opened.side(side).lines):
        raise FileError(
            f"{path}: {'no vectors there' if vectors is None else 'vectors of other sentences'}",
            "remove the run, and mine again",
        )
    return vectors


def nearest_rows(
    query: NDArray[np.float16], vectors: NDArray[np.float16], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the k nearest rows of one vector, exactly, reading each row once.

    Args:
        query: [1, dim], a unit row.
        vectors: [rows, dim], unit rows, perhaps memory-mapped; rows of zeros are not found.
        k: how many at most.

    Returns:
        int64 and float32 [k], by falling cosine, then rising row; fewer where there are fewer.
    """
    some = np.flatnonzero(vectors.any(axis=1))
    if not len(some):
        return some, np.empty(0, dtype=np.float32)
    near, others = Distinct(query, apart=True), Distinct.of(vectors, some)
    rows, cosines = search_few(near, np.array([0]), others, min(k, len(some)), MEMORY, lambda: None)
    return some[rows[0]], cosines[0]
