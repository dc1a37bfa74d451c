"""An encoder that knows languages -> where a new static encoder starts, and what it approaches.

The principal axes of the teacher's vectors of the student's tokens lead from the dimensions of the
teacher into those of the student. A token starts as the vector of its own text there, and the
vector of a sentence approaches the teacher's of both sides of its pair: InfoNCE against the other
pairs of the batch, as in the contrast of translations. Of a language that the teacher does not know
it reads the translations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokenizer import Vocabulary
from xmine.encoders.vectors import encode_sentences
from xmine.errors import TrainingError
from xmine.files.cache import PARTS, Cache
from xmine.progress import Report
from xmine.run.steps import Steps
from xmine.text.languages import short_code
from xmine.text.sentences import sentence_table

from ..data.corpus import Corpus
from ..data.rows import TokenizedSide
from ..distributed import leads, wait_for_all
from .static import FIRST_LENGTH, StaticTower
from .towers import Tower, unit_rows


class Teacher:
    """What an encoder says of the tokens and sentences of a student.

    Attributes:
        axes: float32 [teacher dim, student dim].
    """

    def __init__(self, encoder: SentenceEncoder, student: Tower, name: str) -> None:
        """Let a new static encoder start from the teacher's vectors of its tokens.

        Raises:
            TrainingError: the student is none, or has more dimensions than the teacher.
        """
        if not isinstance(student, StaticTower) or not isinstance(student.pieces, Vocabulary):
            raise TrainingError(f"--teacher {name}: it teaches a new static encoder alone")
        if encoder.dim < student.dim:
            raise TrainingError(
                f"--teacher {name}: its vectors have {encoder.dim} dimensions, those of the new "
                f"encoder {student.dim}",
                f"--dim {encoder.dim}, or less",
            )
        self.encoder = encoder
        pieces = student.pieces
        found = encoder.encode([pieces.text_of(piece) for piece in range(len(pieces))])
        found[pieces.meaningless()] = 0
        wide = found.astype(np.float64)
        _, directions = np.linalg.eigh(wide.T @ wide)  # rising
        self.axes = torch.from_numpy(directions[:, ::-1][:, : student.dim].astype(np.float32))
        start = unit_rows(torch.from_numpy(found) @ self.axes) * FIRST_LENGTH
        is_known = torch.from_numpy(found.any(axis=1, keepdims=True))
        with torch.no_grad():
            student.vectors.copy_(torch.where(is_known, start, student.vectors))

    def lessons(
        self,
        corpus: Corpus,
        codes: Sequence[str],
        columns: Sequence[Sequence[str]],
        sides: Sequence[TokenizedSide],
        folder: Path,
        report: Report,
    ) -> "Lessons":
        """Read all sentences that are in languages which the teacher knows.

        All texts of the corpus are read, held out or not: runs that hold others out share the
        vectors, which `folder` keeps. `columns` are the x and the x+ to train on, `sides` the same
        cut, and `codes` the languages of the run, those of the pairs' columns first.

        Raises:
            TrainingError: a row is in no language that the teacher knows.
        """
        assert corpus.pairs
        known = set(map(short_code, self.encoder.facts.languages))  # where none is said, all
        rows: dict[str, int] = {}
        several, every = corpus.pairs.languages, np.zeros(len(corpus.pairs), np.int64)
        pairs, of_rows = (several.codes, several.of_rows) if several else ((codes[:2],), every)
        for at, texts in enumerate((corpus.pairs.sources, corpus.pairs.targets)):
            is_known = [not known or short_code(pair[at]) in known for pair in pairs]
            for row in np.flatnonzero(np.array(is_known)[of_rows]).tolist():
                rows.setdefault(texts[row], len(rows))
        for text in corpus.texts:
            rows.setdefault(text, len(rows))
        rows = {text: at for at, text in enumerate(each for each in rows if each.strip())}
        places = [np.array([rows.get(text, -1) for text in column]) for column in columns]
        if missing := int((np.maximum(*places) < 0).sum()):
            raise TrainingError(
                f"of {count(missing, 'row')} the teacher knows neither language",
                "leave these languages out, or give another --teacher",
            )
        of_keys = np.full(1 + max(int(side.keys.max()) for side in sides), -1)
        for side, found in zip(sides, places, strict=True):
            of_keys[side.keys] = found
        steps, table = Steps(folder / PARTS), sentence_table("", rows, dedup=False)

        read = partial(encode_sentences, self.encoder, table, steps, report, cache=Cache())
        if leads():
            read()
        wait_for_all()
        return Lessons(read().every(), of_keys)


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What the teacher says of sentences.

    Attributes:
        vectors: float16 [sentences, teacher dim], unit rows.
        of_keys: int64 [keys], the sentence of each key of a text; -1 for one that was not read.
    """

    vectors: NDArray[np.float16]
    of_keys: NDArray[np.int64]

    def of(self, sides: Sequence[TokenizedSide]) -> Tensor:
        """Add up what is said of both sides of rows: float32 [rows, teacher dim]."""
        found = torch.zeros(len(sides[0]), self.vectors.shape[1])
        for side in sides:
            places = self.of_keys[side.keys]
            vectors = self.vectors[np.maximum(places, 0)].astype(np.float32)
            found += torch.from_numpy(vectors * (places >= 0)[:, None])
        return found
