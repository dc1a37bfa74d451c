"""The weights that rerank the candidates of an encoder, as its folder keeps them."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from xmine.encoders.layout import read_json, write_json
from xmine.encoders.trees import read_trees
from xmine.errors import EncoderError

RERANKING_FILE = "reranking.json"
_LARGEST = 1e9  # number that a file may hold
_NO_FIGURES = {"bias", "decoy_power"} | {
    f"other_{each}" for each in ("numbers", "language", "mark")
}
_HINT = "remove the file: xmine then takes its default weights"


@dataclass(frozen=True, slots=True)
class RerankingWeights:
    """A logistic regression on figures of a candidate, and trees; see `xmine.scoring.reranking`.

    The defaults, for an encoder without a file, are a regression alone, fitted to an encoder that
    shipped with xmine.

    Attributes:
        bias, and a weight for each figure.
        trees: lines of `xmine.encoders.trees`, whose leaves are added.
        other_numbers: taken off the score of a pair whose sides have other numbers.
        other_language: taken off the score of a pair with a line in the language of another side.
        other_mark: taken off the score of a pair of which one side ends as a sentence, or as a
            question, and the other does not.
        decoy_power: the share of wrong pairs above a score is that of pairs which are only the
            second best of their sentences, to this power; see `xmine.scoring.decoys`.
    """

    log_margin: float = 3.077
    missing: float = -52.514
    order: float = 1.297
    match_lead: float = 5.829
    margin_lead: float = 3.899
    covered: float = 0.0
    length: float = 0.0
    other_numbers: float = 2.0
    other_language: float = 5.0
    other_mark: float = 1.5
    bias: float = 0.884
    decoy_power: float = 0.7
    trees: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        """Write them into the folder of an encoder."""
        write_json(folder / RERANKING_FILE, asdict(self))


def read_reranking(folder: Path) -> RerankingWeights | None:
    """Read the weights in the folder of an encoder; None if there are none.

    Raises:
        EncoderError: the file is broken, or a number is not finite.
    """
    path = folder / RERANKING_FILE
    if not path.exists():
        return None
    content = read_json(path)
    trees, given = content.pop("trees", []), content.items()
    names = {each.name for each in fields(RerankingWeights)} - {"trees"}
    left = ("right_mean", "right_deviation")  # of earlier versions, which lacked other numbers
    given = [(name, each) for name, each in given if name not in left]
    content = {"covered": 0.0, "length": 0.0, "other_mark": 0.0, "decoy_power": 0.7, **dict(given)}
    numbers = all(type(each) in (int, float) and abs(each) < _LARGEST for _, each in given)
    if content.keys() != names or not numbers or not 0 < content["decoy_power"] <= 1:
        raise EncoderError(
            f"{path}: a finite number each is expected for {', '.join(sorted(names))}, "
            "and decoy_power from 0 to 1",
            _HINT,
        )
    values: dict[str, Any] = {name: float(value) for name, value in content.items()}
    try:
        known = read_trees(tuple(map(str, trees))).cuts.keys() <= names - _NO_FIGURES
    except (ValueError, TypeError, OverflowError):
        known = False
    if not known:
        hint = f"`xmine train` writes them as xmine.encoders.trees says; {_HINT}"
        raise EncoderError(f"{path}: trees: a line for each tree is expected", hint)
    return RerankingWeights(**values, trees=tuple(trees))
