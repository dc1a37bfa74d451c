"""The weights that rerank the candidates of an encoder, as its folder keeps them."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from xmine.encoders.layout import read_json, write_json
from xmine.errors import EncoderError

RERANKING_FILE = "reranking.json"
_LARGEST = 1e9  # number that a file may hold


@dataclass(frozen=True, slots=True)
class RerankingWeights:
    """A logistic regression on five figures of a candidate, see `xmine.scoring.reranking`.

    The weights of an encoder without a file are those of the encoder that ships with xmine.

    Attributes:
        bias, and a weight for each figure.
        other_numbers: taken off the score of a pair whose sides have other numbers.
        other_language: taken off the score of a pair with a line in the language of another side.
        right_mean, right_deviation: of the scores of translations that the weights were fitted on.
    """

    log_margin: float = 3.077
    missing: float = -52.514
    order: float = 1.297
    match_lead: float = 5.829
    margin_lead: float = 3.899
    other_numbers: float = 2.0
    other_language: float = 5.0
    bias: float = 0.884
    right_mean: float = 5.876
    right_deviation: float = 3.398

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
    names = {each.name for each in fields(RerankingWeights)}
    numbers = all(type(each) in (int, float) and abs(each) < _LARGEST for each in content.values())
    if content.keys() != names or not numbers or content["right_deviation"] <= 0:
        raise EncoderError(
            f"{path}: a finite number each is expected for {', '.join(sorted(names))}, "
            "and right_deviation above 0",
            "remove the file: xmine then takes its default weights",
        )
    return RerankingWeights(**{name: float(value) for name, value in content.items()})
