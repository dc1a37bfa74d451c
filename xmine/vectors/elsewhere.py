"""Sentences in a table -> tasks that read some of them each, and work on them with an encoder."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.recipe import Recipe
from xmine.engines.parts import Blocks, Parts
from xmine.engines.task import Engine
from xmine.files.records import read_texts

# Blocks of `texts_at_once` texts: less than a second of a static encoder, a minute of a large one.
_BLOCKS_OF_A_TASK = 2

# A function of a module, or a partial of one.
Work = Callable[[SentenceEncoder, list[str]], Blocks]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who works on the sentences of a table.

    Attributes:
        engine: runs the tasks.
        table: a Parquet file with a row for each sentence, and the column `text`.
    """

    engine: Engine
    table: Path

    def parts(self, encoder: SentenceEncoder, rows: int, work: Work) -> Parts | None:
        """Cut the rows of a table into tasks; None where these cannot load the encoder."""
        recipe = Recipe.of(encoder)
        if recipe is None:
            return None
        size = _BLOCKS_OF_A_TASK * encoder.texts_at_once
        maker = partial(_in_task, work, recipe, self.table, rows)
        return Parts(self.engine, maker, size, recipe.gpus)


def _in_task(work: Work, recipe: Recipe, table: Path, rows: int, start: int, stop: int) -> Blocks:
    """Work on some of the rows of a table."""
    return work(recipe.load(), read_texts(table, "text", rows, start, stop))
