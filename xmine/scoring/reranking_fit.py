"""Candidates whose translations are known -> the weights that rerank the candidates of an encoder.

The mean of a logistic regression and of boosted trees (Friedman, 2001, "Greedy function
approximation: a gradient boosting machine") on the figures of `xmine.scoring.reranking`. The
candidates that are no translations are the wrong examples: near neighbours, as in mining.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.trees import MOST_LEAVES, PARTS, Cut, tree_line
from xmine.knn.neighbours import Neighbours
from xmine.scoring.decoys import USUAL
from xmine.scoring.margin import MarginScores
from xmine.scoring.probability import Floats, sigmoid
from xmine.scoring.reranking import Reranker, TokenMatches
from xmine.scoring.retrieval import ChosenPairs, choose_pairs

# The fewest translations among the chosen pairs of all mixtures that weights are fitted on.
_FEWEST = 200
_DIGITS = 3  # behind the point, in which the weights do not depend on threads
_EXAMPLES = 200_000  # candidates at most that weights are learnt from without gold
_LEAST_SLOPE = 1e-3
_STEPS = 100  # of Newton's method; a dozen are usual
# Trees may only raise the score as a figure rises, or lower it; how many there are, how much of its
# own value each adds, and from how many examples a leaf is.
_FALLING = ("missing", "length")
_TREES, _RATE, _LEAST_IN_LEAF = 75, 0.1, 40
# Where the power of decoys is measured: their quantiles, and the most translations of a mixture.
_DECOYS_BELOW, _SPARSE, _LEAST_POWER = (0.9, 0.95, 0.99), 0.1, 0.3


@dataclass(frozen=True, slots=True)
class KnownCandidates:
    """Candidates of two sides, some of whose sentences are translations of each other.

    Attributes:
        neighbours, matches, margins: as of a `Reranker`.
        translations: int64 [sources], the target that translates each source; -1 for none.
        spare: as of a `Reranker`, for decoys.
    """

    neighbours: Neighbours
    matches: TokenMatches
    margins: MarginScores
    translations: NDArray[np.int64]
    spare: tuple[Neighbours, TokenMatches] | None = None

    def reranker(self, weights: RerankingWeights) -> Reranker:
        """Give what scores the candidates."""
        return Reranker(self.neighbours, self.matches, self.margins, weights, spare=self.spare)

    def examples(self) -> tuple[dict[str, Floats], NDArray[np.bool_]]:
        """Measure each candidate once: figures by name, and which are translations, [cells]."""
        near = self.neighbours
        x, y = np.broadcast_arrays(np.arange(len(near.targets))[:, None], near.targets)
        s, t = np.broadcast_arrays(near.sources, np.arange(len(near.sources))[:, None])
        new = ~(near.targets[s] == t[..., None]).any(axis=-1)  # not among the targets of s
        measure = self.reranker(RerankingWeights()).figures
        forward = measure(x, y, self.matches.targets, self.margins.targets)
        backward = measure(s, t, self.matches.sources, self.margins.sources)
        figures = {
            name: np.concatenate([figure.ravel(), backward[name][new]])
            for name, figure in forward.items()
        }
        x, y = (np.concatenate([a.ravel(), b[new]]) for a, b in ((x, s), (y, t)))
        return figures, self.translations[x] == y

    def chosen(self, weights: RerankingWeights) -> tuple[ChosenPairs, NDArray[np.bool_]]:
        """Choose pairs by the score, and tell which are translations."""
        chosen = choose_pairs(self.neighbours, self.reranker(weights).candidates())
        return chosen, self.translations[chosen.sources] == chosen.targets

    def decoy_powers(self, weights: RerankingWeights) -> list[float]:
        """Measure the power that makes the scores of decoys those of wrong pairs.

        Decoys of sentences with a translation are as good as wrong pairs, and have no power.
        """
        chosen, right = self.chosen(weights)
        decoys = self.reranker(weights).decoys(chosen)
        wrong = chosen.scores[~right]
        translated = self.translations[decoys.sources] >= 0
        translated |= np.isin(decoys.targets, self.translations)
        powers, apart = list[float](), float(translated.mean())
        for score in np.quantile(decoys.scores, _DECOYS_BELOW):
            above, beyond = (wrong > score).mean(), (decoys.scores > score).mean()
            if 0 < above < 1 and 0 < beyond < 1:
                powers.append((math.log(above) / math.log(beyond) - apart) / (1 - apart))
        return powers


def fit_weights(mixtures: Sequence[KnownCandidates]) -> RerankingWeights | None:
    """Fit the weights of all figures, and trees; None where too few translations are found.

    Those that need the texts, `other_numbers` and so on, keep their defaults.

    Args:
        mixtures: at several shares of translations, such as mining may meet.
    """
    measured, right = zip(*(each.examples() for each in mixtures), strict=True)
    figures = {name: np.concatenate([each[name] for each in measured]) for name in measured[0]}
    fitted, bias = logistic_regression(
        np.stack(list(figures.values()), axis=1), np.concatenate(right)
    )
    weights = with_trees(figures, np.concatenate(right), _weights(figures, fitted, bias))
    if sum(int(mixture.chosen(weights)[1].sum()) for mixture in mixtures) < _FEWEST:
        return None
    sparse = [
        each for each in mixtures if each.spare and (each.translations >= 0).mean() <= _SPARSE
    ]
    powers = [power for each in sparse for power in each.decoy_powers(weights)]
    if not powers:
        return weights
    power = min(max(float(np.median(powers)), _LEAST_POWER), 1.0)
    return replace(weights, decoy_power=round(power, _DIGITS))


def with_trees(
    figures: dict[str, Floats], right: NDArray[np.bool_], weights: RerankingWeights
) -> RerankingWeights:
    """Take the mean of the scores of a regression and those of trees fitted to the same examples.

    Args:
        figures: float64 [examples] each, by name.
        right: bool [examples].
        weights: of the regression.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    names = list(figures)
    boosted = HistGradientBoostingClassifier(
        max_iter=_TREES,
        learning_rate=_RATE,
        max_leaf_nodes=MOST_LEAVES,
        min_samples_leaf=_LEAST_IN_LEAF,
        l2_regularization=1.0,
        monotonic_cst=[-1 if name in _FALLING else 1 for name in names],
        early_stopping=False,
        random_state=0,
    )
    with threadpool_limits(1):  # or threads would change the last digits
        boosted.fit(np.stack(list(figures.values()), axis=1), right)
    halves = {name: round(getattr(weights, name) / 2, _DIGITS) for name in names}
    bias = (weights.bias + float(boosted._baseline_prediction.item())) / 2
    grown = (each.nodes for (each,) in boosted._predictors if len(each.nodes) > 1)
    trees = (_tree(nodes, names) for nodes in grown)
    return replace(weights, **halves, bias=round(bias, _DIGITS), trees=tuple(trees))


def _tree(nodes: NDArray[Any], names: Sequence[str]) -> str:
    """Write a tree of scikit-learn, with half its values."""
    cuts, values = list[Cut](), list[int]()

    def walk(place: int) -> int:
        """Write what is below a node; give a bit for each of its leaves."""
        node = nodes[place]
        if node["is_leaf"]:
            values.append(round(float(node["value"]) * PARTS / 2))
            return 1 << (len(values) - 1)
        left = walk(node["left"])
        cuts.append(Cut(names[node["feature_idx"]], float(node["num_threshold"]), left))
        return left | walk(node["right"])

    walk(0)
    return tree_line(cuts, values)


def learn_weights(
    reranker: Reranker, pairs: ChosenPairs, probs: Floats, known: NDArray[np.int8]
) -> RerankingWeights | None:
    """Fit the weights to the probabilities of pairs, without gold; None where no example is right.

    The candidates of some sources are the examples. A candidate that is none of the pairs is wrong.

    Args:
        reranker: of the candidates.
        pairs: chosen by the margin, best first. Of several pairs of a source the first counts.
        probs: float64 [pairs], their estimated probabilities.
        known: [pairs], 1 for pairs known to be right, 0 for wrong ones and copies, which are left
            out, -1 for the others.
    """
    near, matches, margins = reranker.neighbours, reranker.matches, reranker.margins
    sources, first = np.unique(pairs.sources, return_index=True)
    partners, labels = np.full(len(near.targets), -1), np.zeros(len(near.targets))
    partners[sources], labels[sources] = pairs.targets[first], probs[first]
    used = np.ones(len(near.targets), dtype=bool)
    used[pairs.sources[known == 0]] = False
    rows = np.flatnonzero(used)[:: max(1, int(used.sum()) * near.targets.shape[1] // _EXAMPLES)]
    x, y = np.broadcast_arrays(rows[:, None], near.targets[rows])
    figures = reranker.figures(x, y, matches.targets[rows], margins.targets[rows])
    for name in ("covered", "length"):  # learnt from guesses, they do harm
        del figures[name]
    right = ((y == partners[rows, None]) * labels[rows, None]).ravel()
    if not right.any():
        return None
    measured = np.stack([each.ravel() for each in figures.values()], axis=1)
    fitted, bias = logistic_regression(measured, right)
    weights = _weights(figures, fitted, bias)
    # The scores are log-odds at the share of translations of these examples; see `USUAL`.
    share = float(right.mean())
    return replace(weights, bias=round(bias - math.log(share / (1 - share)) - USUAL, _DIGITS))


def logistic_regression(figures: Floats, right: Floats | NDArray[np.bool_]) -> tuple[Floats, float]:
    """Fit logistic regression by Newton's method, with a ridge as small as one example.

    The sum of the losses -log p(right), and half the squared weights of the standardised figures,
    are least; the bias has no ridge.

    Args:
        figures: float64 [examples, figures].
        right: bool [examples], or probabilities.

    Returns:
        The weights [figures] and the bias, of the figures as they were given.
    """
    mean, deviation = figures.mean(axis=0), figures.std(axis=0)
    deviation[deviation == 0] = 1
    rows = np.column_stack([(figures - mean) / deviation, np.ones(len(figures))])
    ridge = np.append(np.ones(figures.shape[1]), 0.0)

    def loss(weights: Floats) -> float:
        scores = rows @ weights
        losses = np.logaddexp(0, scores) - right * scores
        return float(losses.sum() + (ridge * weights**2).sum() / 2)

    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = sigmoid(rows @ weights)
        down = rows.T @ (chances - right) + ridge * weights
        bend = (rows * (chances * (1 - chances))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(bend, down)
        before = loss(weights)
        while loss(weights - step) > before and np.abs(step).max() > 1e-9:
            step /= 2
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    natural = weights[:-1] / deviation
    return natural, float(weights[-1] - natural @ mean)


def fit_curve(values: Floats, labels: Floats) -> tuple[float, float]:
    """Fit a rising logistic curve to labels from 0 to 1: slope and height."""
    slopes, height = logistic_regression(values[:, None], labels)
    return max(float(slopes[0]), _LEAST_SLOPE), height


def _weights(names: Iterable[str], fitted: Floats, bias: float) -> RerankingWeights:
    """Round the weights of figures, and name each."""
    named = zip([*names, "bias"], [*fitted.tolist(), bias], strict=True)
    return RerankingWeights(**{name: round(value, _DIGITS) for name, value in named})
