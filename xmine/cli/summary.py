"""A report of mining or scoring -> what the command says of the work, for people and as JSON."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.version import __version__

if TYPE_CHECKING:
    from xmine.mining.aligned_scores import ScoringReport
    from xmine.mining.mined import MiningReport


def summary(
    report: "MiningReport | ScoringReport",
    vectors: Mapping[str, object],
    notes: Sequence[str],
    warnings: Sequence[str],
    options: MiningOptions | ScoringOptions,
    started: float,
    *,
    plot: bool = False,
) -> tuple[str, dict[str, object]]:
    """Write the summary, and list the facts behind it.

    `vectors` names the encoder or the vector files; `notes` tell what the output format could not
    hold; `started` is `time.perf_counter()` at the start; `plot` adds the histogram to the facts.
    """
    seconds = time.perf_counter() - started
    how = f"{seconds:.1f} s"
    if vectors.get("architecture", "static") != "static":
        how = "{architecture} on {device} in {dtype}, ".format_map(vectors) + how
    facts = {
        **report.facts(),
        "vectors": vectors,
        "notes": list(notes),
        "warnings": list(warnings),
        "options": asdict(options),
        "seconds": round(seconds, 3),
        "version": __version__,
    }
    if plot:
        facts["histogram"] = report.histogram().facts()
    return "\n".join([*report.lines(how), *filter(None, notes)]), facts
