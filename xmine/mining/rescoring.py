"""Candidates and a second model -> candidates that are chosen again with that model's figure."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmine.files.cache import Warn
from xmine.mining.candidates import Candidates, first_estimate, known_pairs
from xmine.mining.options import MiningOptions
from xmine.pairs.known import NOTHING_KNOWN, LabelledPairs
from xmine.progress import silent
from xmine.scoring.documents import Overlap
from xmine.scoring.margin import pair_scores
from xmine.scoring.order import order_support
from xmine.scoring.probability import Floats
from xmine.scoring.reranking_fit import fit_curve
from xmine.scoring.rescoring import Cells, Rows, best_cells, spread, weigh, with_leads
from xmine.scoring.retrieval import ChosenPairs, choose_pairs

# Share of the pairs that are the best ones, and how many there are; and how many of these go on in
# texts with blocks in order. Of shuffled texts hardly any do.
_BEST, _FEW, _IN_STRETCHES = 0.5, 20, 0.3
LEFT_OUT = "{} is left out: too few pairs show what the figure is worth"


def rescore(
    candidates: Candidates,
    options: MiningOptions,
    weigh: Callable[[Cells, ChosenPairs, Floats], tuple[Floats, Floats]],
    seeds: LabelledPairs = NOTHING_KNOWN,
    warn: Warn = silent,
    option: str = "--rescore",
) -> Candidates:
    """Choose pairs by what a second figure adds to the score; right seed pairs stay.

    `weigh` gives the log-odds of cells, and what the figure adds to them, float64 [cells]; it gets
    the pairs that are not known, too, and the probability of each so far. `warn` is told if nothing
    can be learnt for the `option` that asks for this; then the candidates stay as they are.
    """
    chosen, (_, known) = candidates.chosen, known_pairs(candidates, seeds)
    present = first_estimate(candidates, seeds)
    if present is None or not present.probs.any():
        warn(LEFT_OUT.format(option))
        return candidates
    sides = candidates.scores.targets, candidates.scores.sources
    near = candidates.neighbours.first(max(each.shape[1] for each in sides))
    right = chosen.take(known == 1)
    cells = best_cells(near, candidates.scores, right)
    rows = np.flatnonzero(known != 0)
    log_odds, added = weigh(cells, chosen.take(rows), present.probs[rows])
    scores = spread(cells, log_odds, near, candidates.scores.clamped)
    again = choose_pairs(near, scores, options.retrieval)
    at = cells.places(right.sources, right.targets)
    gone = ~np.isin(at, cells.places(again.sources, again.targets))
    lost = replace(right.take(gone), scores=log_odds[at[gone]].astype(np.float32), margins=None)
    again = again.joined(lost)
    few = candidates.neighbours.first(options.neighborhood)
    margins, _ = pair_scores(again.sources, again.targets, again.cosines, few)
    evidence = added[cells.places(again.sources, again.targets)].astype(np.float32)
    if chosen.evidence is not None:  # of another figure
        at = cells.places(chosen.sources, chosen.targets)
        before = np.zeros(len(cells.sources), np.float32)
        before[at[at >= 0]] = chosen.evidence[at >= 0]
        evidence += before[cells.places(again.sources, again.targets)]
    again = replace(again, margins=margins, evidence=evidence)
    return replace(candidates, chosen=again, scores=scores)


def by_model(
    read: Callable[[Rows, Rows], NDArray[np.float32]],
    cells: Cells,
    chosen: ChosenPairs,
    probs: Floats,
) -> tuple[Floats, Floats]:
    """Weigh what the figures of a second model, which `read` gives, know beyond the score."""
    figures = with_leads(cells, read(cells.sources, cells.targets))
    return weigh(cells, figures, cells.places(chosen.sources, chosen.targets), probs)


def by_documents(
    candidates: Candidates, cells: Cells, chosen: ChosenPairs, probs: Floats
) -> tuple[Floats, Floats]:
    """Weigh the documents of cells by the other pairs in these documents."""
    ours, theirs = candidates.source.documents, candidates.target.documents
    assert ours is not None and theirs is not None
    names = candidates.source.document_names, candidates.target.document_names
    counts = len(names[0]), len(names[1])
    sizes = np.bincount(ours, minlength=counts[0]), np.bincount(theirs, minlength=counts[1])
    shared = Overlap.of((ours[chosen.sources], theirs[chosen.targets]), counts, probs)
    places, own = cells.places(chosen.sources, chosen.targets), np.zeros(len(cells.sources))
    own[places] = probs
    x, y = ours[cells.sources], theirs[cells.targets]
    added = shared.evidence(x, y, own, sizes)
    left, right = (np.array([not name for name in each]) for each in names)
    added[left[x] | right[y]] = 0
    slope, height = fit_curve(cells.scores[places], probs)
    return slope * cells.scores + height + added, added


def by_order(cells: Cells, chosen: ChosenPairs, probs: Floats) -> tuple[Floats, Floats]:
    """Weigh whether the pairs before and behind a cell go on as it does."""
    pairs = chosen.sources, chosen.targets
    figures = order_support((cells.sources, cells.targets), pairs, probs)
    return weigh(cells, figures[:, None], cells.places(*pairs), probs)


def is_in_stretches(candidates: Candidates) -> bool:
    """Tell whether the best pairs go on from one to the next, in whatever order of blocks."""
    copies, _ = known_pairs(candidates, NOTHING_KNOWN)
    chosen = candidates.chosen.take(np.flatnonzero(~copies))
    best = np.argsort(-chosen.scores, kind="stable")[: int(_BEST * len(chosen))]
    pairs = chosen.sources[best], chosen.targets[best]
    support = order_support(pairs, pairs, np.ones(len(best)))
    return len(best) >= _FEW and float((support >= 1).mean()) >= _IN_STRETCHES
