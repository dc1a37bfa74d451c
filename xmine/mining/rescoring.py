"""Candidates and a second model -> candidates that are chosen again with that model's figure."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmine.files.cache import Warn, unheard
from xmine.mining.candidates import Candidates, known_pairs
from xmine.mining.options import MiningOptions
from xmine.pairs.known import NOTHING_KNOWN, LabelledPairs
from xmine.scoring.calibration import calibrate
from xmine.scoring.margin import pair_scores
from xmine.scoring.probability import estimate
from xmine.scoring.rescoring import Rows, best_cells, spread, weigh, with_leads
from xmine.scoring.retrieval import choose_pairs

LEFT_OUT = "--rescore is left out: too few pairs show what the model's judgement is worth"


def rescore(
    candidates: Candidates,
    options: MiningOptions,
    read: Callable[[Rows, Rows], NDArray[np.float32]],
    seeds: LabelledPairs = NOTHING_KNOWN,
    warn: Warn = unheard,
) -> Candidates:
    """Choose pairs by what a second model adds to the score; right seed pairs stay.

    Args:
        candidates: as they are retrieved, by tokens or by the margin.
        options: `retrieval` and `neighborhood`.
        read: gives the figures of the second model, float32 [pairs], of rows of both sides.
        seeds: pairs that are known, by the lines that stand for repeated ones.
        warn: told if nothing can be learnt; then the candidates stay as they are.
    """
    chosen, weights = candidates.chosen, candidates.weights
    _, known = known_pairs(candidates, seeds)
    first = estimate(chosen, candidates.neighbours, known, candidates.kin)
    if first is None or not first.probs.any():
        warn(LEFT_OUT)
        return candidates
    present = calibrate(chosen.scores, first, known, weights) if weights else first
    sides = candidates.scores.targets, candidates.scores.sources
    near = candidates.neighbours.first(max(each.shape[1] for each in sides))
    right = chosen.take(known == 1)
    cells = best_cells(near, candidates.scores, right)
    figures = with_leads(cells, read(cells.sources, cells.targets))
    rows, places = known != 0, cells.places(chosen.sources, chosen.targets)
    log_odds, added = weigh(cells, figures, places[rows], present.probs[rows])
    scores = spread(cells, log_odds, near, candidates.scores.clamped)
    again = choose_pairs(near, scores, options.retrieval)
    at = cells.places(right.sources, right.targets)
    gone = ~np.isin(at, cells.places(again.sources, again.targets))
    lost = replace(right.take(gone), scores=log_odds[at[gone]].astype(np.float32), margins=None)
    again = again.joined(lost)
    few = candidates.neighbours.first(options.neighborhood)
    margins, _ = pair_scores(again.sources, again.targets, again.cosines, few)
    evidence = added[cells.places(again.sources, again.targets)].astype(np.float32)
    again = replace(again, margins=margins, evidence=evidence)
    return replace(candidates, chosen=again, scores=scores)
