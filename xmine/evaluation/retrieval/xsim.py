"""xSIM: how often the best margin score of a sentence goes to a line that is not its translation.

LASER's error rate (facebookresearch/LASER, source/xsim.py; Heffernan, Celebi & Schwenk, 2022,
"Bitext mining using distilled sentence representations for low-resource languages").
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import XsimOptions
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.evaluation.retrieval.aligned import TEXTUAL, check_known, unknown_note, unknown_rows
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.knn.cosines import Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent
from xmine.scoring.margin import margin_scores
from xmine.scoring.retrieval import choose_pairs


@dataclass(frozen=True, slots=True)
class BestLines:
    """The line with the best margin score among the k nearest, both ways.

    Attributes:
        targets: int64 [sources], a row of the target for each source.
        sources: int64 [targets], a row of the source for each target.
        clamped: neighbourhood means near zero that the ratio needed raised.
    """

    targets: NDArray[np.int64]
    sources: NDArray[np.int64]
    clamped: int


def best_lines(
    source: Vectors, target: Vectors, margin: str, k: int, report: Report = silent
) -> BestLines:
    """Choose for each row the other side's one with the best score among its k nearest.

    Args:
        source: unit rows [sources, dim].
        target: unit rows [targets, dim]; may be more than the sources.
        margin: `ratio`, `distance`, or `absolute`, which is the nearest itself.
        k: neighbours, in both directions.
        report: called while searching.

    Equal scores go to the lower row.
    """
    neighbours = search_exact(source, target, 1 if margin == "absolute" else k, report=report)
    scores = margin_scores(neighbours, margin)
    forward = choose_pairs(neighbours, scores, "fwd")
    backward = choose_pairs(neighbours, scores, "bwd")
    targets = np.empty(len(source), dtype=np.int64)
    sources = np.empty(len(target), dtype=np.int64)
    targets[forward.sources] = forward.targets
    sources[backward.targets] = backward.sources
    return BestLines(targets, sources, scores.clamped)


def error_rate(chosen: NDArray[np.int64], texts: Sequence[str] | None = None) -> float:
    """Give the share of rows that did not choose the row of their own number.

    Args:
        chosen: int64 [rows], rows of the other side.
        texts: of the other side, where a row with the same text as the right one is no error.
    """
    keys: Sequence[object] = range(len(chosen)) if texts is None else texts
    wrong: list[bool] = [keys[row] != keys[at] for at, row in enumerate(chosen.tolist())]
    return sum(wrong) / len(wrong)


def enough(lines: int, k: int, margin: str, name: str) -> None:
    """Check that each line can have k neighbours.

    Raises:
        FileError: there are fewer lines.
    """
    if margin != "absolute" and lines < k:
        raise FileError(
            f"{name}: {lines} lines; a margin over {k} neighbours needs {k}",
            "choose fewer with --neighborhood",
        )


def margin_in_words(margin: str, k: int) -> str:
    """Say how the chosen line was found."""
    if margin == "absolute":
        return "nearest by cosine"
    return f"best {margin} margin among the {k} nearest, means over {k} both ways"


def evaluate_xsim(
    encoder: SentenceEncoder, data: DataFolder, options: XsimOptions, report: Report = silent
) -> Result:
    """Measure the error rate from each language of aligned files to their pivot, and back.

    Raises:
        FileError: a file is missing or cannot be read, files differ in their number of lines,
            there are fewer lines than neighbours or than two, or no line of two languages has a
            vector.
    """
    sets = aligned_sets(data, options)
    rows, averages, notes = [], [], []
    for aligned in sets:
        measured, clamped, unknown = _rows(encoder, aligned, options, report)
        rows += measured
        notes += [f"{aligned.name}: {note}" for note in unknown_note(unknown)]
        if len(measured) > 1:
            averages.append(mean_row(aligned.titled(f"mean of {len(measured)}", ", "), measured))
        if clamped:
            notes.append(f"{aligned.name}: {clamped:,} neighbourhoods near zero, raised to 1e-6.")
    headline = averages[-1].name if len(sets) == 1 and averages else rows[0].name
    return Result(
        benchmark="xsim",
        protocol=f"{margin_in_words(options.margin, options.neighborhood)}, error rate"
        + (TEXTUAL if options.textual else ""),
        split=", ".join(each.name for each in sets),
        metrics=(
            Metric(
                "forward",
                "→",
                "share of lines of the first language whose translation is missed",
                digits=2,
                better="lower",
            ),
            Metric("backward", "←", "the same from the second language", 100, 2, "lower"),
            Metric("mean", "mean", "the mean of both directions", 100, 2, "lower"),
        ),
        rows=[*rows, *averages],
        headline=(headline, "mean"),
        settings={
            "margin": options.margin,
            "neighborhood": options.neighborhood,
            "textual": options.textual,
        },
        unit="pairs",
        notes=notes,
    )


def _rows(
    encoder: SentenceEncoder, aligned: AlignedSet, options: XsimOptions, report: Report
) -> tuple[list[Row], int, dict[str, int]]:
    """Measure each pair of languages.

    Returns:
        Rows, neighbourhoods near zero, and for each language its lines without a vector.
    """
    margin, k, texts = options.margin, options.neighborhood, aligned.texts
    enough(len(next(iter(texts.values()))), k, margin, aligned.name)
    targets: dict[str, Vectors] = {}
    rows, clamped, unknown = [], 0, dict[str, int]()
    for source, target in aligned.pairs:
        vectors = encoder.encode(texts[source], report, options.prompt)
        if target not in targets:
            targets[target] = encoder.encode(texts[target], report, options.prompt)
        check_known(aligned.name, (vectors, targets[target]))
        unknown |= {target: unknown_rows(targets[target]), source: unknown_rows(vectors)}
        best = best_lines(vectors, targets[target], margin, k, report)
        forward = error_rate(best.targets, texts[target] if options.textual else None)
        backward = error_rate(best.sources, texts[source] if options.textual else None)
        figures = {"forward": forward, "backward": backward, "mean": (forward + backward) / 2}
        rows.append(Row(aligned.titled(f"{source}-{target}"), len(texts[source]), figures))
        clamped += best.clamped
    return rows, clamped, unknown
