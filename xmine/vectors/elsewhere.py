"""Sentences in a table -> tasks that read some of them each, and work on them with an encoder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.recipe import Recipe
from xmine.engines.parts import Maker, Parts
from xmine.engines.task import Engine
from xmine.files.records import read_texts

# Blocks of `texts_at_once` texts: less than a second of a static encoder, a minute of a large one.
_BLOCKS_OF_A_TASK = 2


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a table, as a task has them.

    Attributes:
        table: a Parquet file with the column `text`.
        rows: of the table.
        encoder: of the texts.
    """

    table: Path
    rows: int
    encoder: Recipe

    def read(self, start: int, stop: int) -> list[str]:
        """Read the texts of some rows."""
        return read_texts(self.table, "text", self.rows, start, stop)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who works on the sentences of a table.

    Attributes:
        engine: runs the tasks.
        table: a Parquet file with a row for each sentence.
    """

    engine: Engine
    table: Path

    def parts(
        self, encoder: SentenceEncoder, rows: int, maker: Callable[[Texts], Maker]
    ) -> Parts | None:
        """Cut the rows of a table into tasks; None where these cannot load the encoder."""
        recipe = Recipe.of(encoder)
        if recipe is None:
            return None
        size = _BLOCKS_OF_A_TASK * encoder.texts_at_once
        return Parts(self.engine, maker(Texts(self.table, rows, recipe)), size, recipe.gpus)
