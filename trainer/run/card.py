"""The model card of a trained encoder: what it saw, how it was made, what it measured."""

from collections import Counter

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.options import dump_toml
from xmine.pairs.io import ParallelText
from xmine.version import __version__

from ..options.shared import SCRATCH, TrainingOptions
from .devset import OF_LANGUAGE, fell, worst_language
from .prepare import TrainedTowers


def model_card(
    method: str,
    options: TrainingOptions,
    encoder: SentenceEncoder,
    made: TrainedTowers,
    excluded: int,
) -> str:
    """Write the card as Markdown with the front matter that model hubs read."""
    front = "".join(f"  - {language}\n" for language in options.codes)
    *others, last = options.codes
    start = f"{options.start}` (--start)" if options.start else f"{options.encoder}`"
    begun = "" if start == f"{SCRATCH}`" else f" It began as `{start}."
    return f"""---
language:
{front}library_name: sentence-transformers
tags:
  - sentence-similarity
  - bitext-mining
---
# A {_kind(encoder)} sentence encoder for {", ".join(others)} and {last}

Made by `xmine train --method {method}`, xmine {__version__}.{begun} {_how(encoder)}

## Data

{_data(made, excluded)}
{_measured(options, encoder, made)}## Options

```toml
{dump_toml(options)}```
"""


def _kind(encoder: SentenceEncoder) -> str:
    return "static" if isinstance(encoder.body, StaticEmbedding) else "transformer"


def _how(encoder: SentenceEncoder) -> str:
    if isinstance(encoder.body, StaticEmbedding):
        return "A sentence is the mean of the\nvectors of its tokens, scaled to length one."
    pooling, heads = (encoder.describe()[name] for name in ("pooling", "heads"))
    return (
        f"A sentence is made\nof what the last layer makes of its tokens: {pooling}, then {heads}."
    )


def _data(made: TrainedTowers, excluded: int) -> str:
    left_out = f"; {excluded:,} left out because they occur in excluded files" if excluded else ""
    counted = f"{made.rows:,} rows{left_out}"
    if made.seen is None:
        return f"{counted}.\n"
    origins = "".join(
        f"| {origin or 'not named'} | {count:,} |\n"
        for origin, count in Counter(made.seen.origins).most_common()
    )
    return (
        f"{counted}, of these {len(made.seen):,} pairs:\n\n| origin | pairs |\n|---|---|\n{origins}"
        + _by_language(made, made.seen)
    )


def _by_language(made: TrainedTowers, seen: ParallelText) -> str:
    """Tell of each pair of languages how many pairs there were and how it retrieves."""
    if not seen.languages:
        return ""
    rows = "".join(
        f"| {name} | {len(of_it):,} | {made.measures[OF_LANGUAGE + name]:.1%} |\n"
        for name, of_it in zip(seen.languages.names, seen.languages.rows(), strict=True)
    )
    return f"\n| languages | pairs | held-out pairs retrieved |\n|---|---|---|\n{rows}"


def _measured(options: TrainingOptions, encoder: SentenceEncoder, made: TrainedTowers) -> str:
    if "forward" not in made.measures:
        return ""
    rounded = ", before rounding to int8" if _kind(encoder) == "static" else ""
    forward, backward = made.measures["forward"], made.measures["backward"]
    return f"""## Measured

On {options.held_out:,} {made.retrieved} held out of the data{rounded}: the nearest
target of a source is the right one in {forward:.1%} of them, the nearest source of a
target in {backward:.1%}.{_before(options, made)}{_of_languages(made)}{_reranked(encoder, made)}

"""


def _before(options: TrainingOptions, made: TrainedTowers) -> str:
    """Tell what the start retrieved, and of a fall."""
    if "before" not in made.measures:
        return ""
    worse = (
        " **It retrieves less than its start.**" if fell(made.measures, options.held_out) else ""
    )
    after, before = made.measures["accuracy"], made.measures["before"]
    return f"\nThe mean is {after:.1%}; training began with {before:.1%}.{worse}"


def _of_languages(made: TrainedTowers) -> str:
    worst = worst_language(made.measures)
    return "".join(
        "\nThese are means over the pairs of languages, each among its own pairs;\n"
        f"{name} retrieves least, {value:.1%}."
        for name, value in worst.items()
    )


def _reranked(encoder: SentenceEncoder, made: TrainedTowers) -> str:
    told = (
        "\n`reranking.json` has weights for reranking that were fitted on mixtures of these pairs."
    )
    return told if encoder.reranking and made.held_out else ""
