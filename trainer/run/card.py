"""The model card of a trained encoder: what it saw, how it was made, what it measured."""

import json
from collections import Counter
from collections.abc import Sequence

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.hub import may_be_hub_name
from xmine.encoders.modules.static import StaticEmbedding
from xmine.evaluation.panel import AFTER, ALL, BEFORE
from xmine.evaluation.reports.table import Line, as_cells, as_markdown
from xmine.options import dump_toml
from xmine.version import __version__

from ..options.shared import SCRATCH, TrainingOptions
from .devset import OF_LANGUAGE, fell, worst_language
from .prepare import TrainedTowers

_TAGS = ("sentence-transformers", "sentence-similarity", "feature-extraction", "bitext-mining")


def model_card(
    method: str,
    options: TrainingOptions,
    encoder: SentenceEncoder,
    made: TrainedTowers,
    excluded: int,
    panel: Sequence[Line] = (),
    known: int = 0,
) -> str:
    """Write the card as Markdown with the front matter that model hubs read."""
    is_static = isinstance(encoder.body, StaticEmbedding)
    how = "A sentence is the mean of the\nvectors of its tokens, scaled to length one."
    if not is_static:
        pooling, heads = (encoder.describe()[name] for name in ("pooling", "heads"))
        how = "A sentence is made\nof what the last layer makes of its tokens: "
        how += f"{pooling}, then {heads}."
    *others, last = options.codes
    start = f"{options.start}` (--start)" if options.start else f"{options.encoder}`"
    begun = "" if start == f"{SCRATCH}`" else f" It began as `{start}."
    return f"""---
{_front(method, options, made)}---
# A {"static" if is_static else "transformer"} sentence encoder for {", ".join(others)} and {last}

Made by `xmine train --method {method}`, xmine {__version__}.{begun} {how}

The licence is for you to name, at the top: data and what training began with have theirs.

## Data

{_data(made, excluded)}
{_measured(options, encoder, made)}{_languages(panel, known)}## Options

```toml
{dump_toml(options)}```
"""


def _front(method: str, options: TrainingOptions, made: TrainedTowers) -> str:
    """Write what model hubs read; the figures are shares of the held-out pairs."""
    begun = {options.start, *options.encoders}
    names = sorted(name for name in begun if may_be_hub_name(name))
    lists = {"language": options.codes, "base_model": names, "tags": _TAGS}
    front = ["license: unknown", "library_name: sentence-transformers"]
    front += ["pipeline_tag: sentence-similarity"]
    for key, values in lists.items():
        front += [f"{key}:"] * bool(values) + [f"  - {json.dumps(value)}" for value in values]
    ways = {"forward": "source to target", "backward": "target to source"}
    if found := [name for name in ways if name in made.measures]:
        name = json.dumps(f"xmine {method}, {', '.join(options.codes)}", ensure_ascii=False)
        held = f"{options.held_out:,} {made.retrieved} held out of the training data"
        front += ["model-index:", f"- name: {name}", "  results:", "  - task: {type: retrieval}"]
        front += [f"    dataset: {{type: held-out, name: {json.dumps(held)}}}", "    metrics:"]
    for way in found:
        value = round(made.measures[way], 4)
        front += [f"    - {{type: accuracy, name: {ways[way]}, value: {value}}}"]
    return "".join(f"{line}\n" for line in front)


def _data(made: TrainedTowers, excluded: int) -> str:
    left_out = f"; {excluded:,} left out because they occur in excluded files" if excluded else ""
    counted = f"{made.rows:,} rows{left_out}"
    if made.seen is None:
        return f"{counted}.\n"
    origins = "".join(
        f"| {origin or 'not named'} | {count:,} |\n"
        for origin, count in Counter(made.seen.origins).most_common()
    )
    said = (
        f"{counted}, of these {len(made.seen):,} pairs:\n\n| origin | pairs |\n|---|---|\n{origins}"
    )
    if languages := made.seen.languages:
        said += "\n| languages | pairs | held-out pairs retrieved |\n|---|---|---|\n"
        for name, rows in zip(languages.names, languages.rows(), strict=True):
            said += f"| {name} | {len(rows):,} | {made.measures[OF_LANGUAGE + name]:.1%} |\n"
    return said


def _measured(options: TrainingOptions, encoder: SentenceEncoder, made: TrainedTowers) -> str:
    if "forward" not in made.measures:
        return ""
    rounded = ", before rounding to int8" if isinstance(encoder.body, StaticEmbedding) else ""
    forward, backward, more = made.measures["forward"], made.measures["backward"], ""
    if "before" in made.measures:
        after, before = made.measures["accuracy"], made.measures["before"]
        more += f"\nThe mean is {after:.1%}; training began with {before:.1%}."
        if fell(made.measures, options.held_out):
            more += " **It retrieves less than its start.**"
    for name, value in worst_language(made.measures).items():
        more += "\nThese are means over the pairs of languages, each among its own pairs;\n"
        more += f"{name} retrieves least, {value:.1%}."
    if encoder.reranking and made.held_out:
        more += "\n`reranking.json` has weights for reranking, fitted on mixtures of these "
        more += f"pairs{''.join(f', of {each}' for each in options.held_out_origins)}."
    return f"""## Measured

On {options.held_out:,} {made.retrieved} held out of the data{rounded}: the nearest
target of a source is the right one in {forward:.1%} of them, the nearest source of a
target in {backward:.1%}.{more}

"""


def _languages(panel: Sequence[Line], known: int) -> str:
    if not panel:
        return ""
    panel = [line for line in panel if line.row == ALL or line.figures[AFTER].verdict != "unclear"]
    had = f", without {known} of its 100 sentences, which are in the data" if known else ""
    table = "\n".join(as_markdown(as_cells(panel, (BEFORE, AFTER))))
    return f"""## What training did to languages

On `examples/languages.tsv` of xmine{had},
before training and after, with intervals of 95 %; single languages where one moved by more
than noise:

{table}

"""
