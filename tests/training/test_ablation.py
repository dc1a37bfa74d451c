"""A grid of values with seeds: every cell is trained once, and the table says what was measured."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from xmine.encoder import SentenceEncoder
from xmine.errors import OptionError
from xmine.pairs import ParallelText
from xmine.trainer import ablation
from xmine.trainer.ablation import ABLATIONS, UNTRAINED, Cell, ablate, draw, means_of, options_with
from xmine.trainer.corpus import Corpus
from xmine.trainer.method_options import MocoOptions, MsimcseOptions
from xmine.trainer.methods import METHODS

SMALL = MsimcseOptions(
    vocabulary_size=500, width=16, batch_size=64, held_out=100, learning_rate=0.02, epochs=1
)


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_value_of_every_grid_is_one_of_its_option(name: str) -> None:
    each = ABLATIONS[name]
    options = METHODS[each.method].options()
    values = [
        getattr(options_with(options, each.option, value), each.option) for value in each.grid
    ]
    assert len(set(values)) == len(each.grid) > 1


def test_values_are_read_as_their_option_wants_them() -> None:
    assert options_with(SMALL, "epochs", "7") == MsimcseOptions(
        **{**{name: getattr(SMALL, name) for name in SMALL.__dataclass_fields__}, "epochs": 7}
    )
    assert options_with(MocoOptions(), "momentum", "auto").momentum == "auto"
    assert options_with(MocoOptions(), "momentum", "0").momentum == 0
    with pytest.raises(OptionError, match="--epochs is 'many' in the grid"):
        options_with(SMALL, "epochs", "many")
    with pytest.raises(OptionError, match="--drop-hard-negatives is 'perhaps'"):
        options_with(SMALL, "drop_hard_negatives", "perhaps")


def test_a_grid_is_trained_once_and_stands_in_a_table(
    toy_pairs: ParallelText,
    toy_encoder: SentenceEncoder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[list[str]] = []

    def measure(encoders: Mapping[str, SentenceEncoder]) -> dict[str, float]:
        measured.append(list(encoders))
        return {"width": float(encoders[""].dim)}

    def run(output: Path) -> list[Cell]:
        return ablate(
            "epochs",
            Corpus(pairs=toy_pairs),
            SMALL,
            output,
            grid=["1", "3"],
            seeds=[1, 2],
            untrained={"": toy_encoder},
            measure=measure,
        )

    cells = run(tmp_path / "out")
    assert [(cell.setting, cell.seed) for cell in cells] == [
        (UNTRAINED, None),
        *(("1", 1), ("1", 2), ("3", 1), ("3", 2)),
    ]
    assert cells[0].figures == {"width": 32} and cells[1].figures["width"] == 16
    means = means_of(cells)
    assert means["3"]["accuracy"] > means["1"]["accuracy"]
    assert (
        means["1"]["accuracy"] == (cells[1].figures["accuracy"] + cells[2].figures["accuracy"]) / 2
    )
    assert SentenceEncoder.load(tmp_path / "out" / "3-seed-2").dim == 16
    rows = list(csv.DictReader((tmp_path / "out" / "ablation.csv").read_text().splitlines()))
    assert [row["setting"] for row in rows] == [UNTRAINED, "1", "1", "3", "3"]
    assert float(rows[4]["accuracy"]) == cells[4].figures["accuracy"] and not rows[0]["accuracy"]
    facts = json.loads((tmp_path / "out" / "ablation.json").read_text())
    assert (facts["option"], facts["method"], len(facts["cells"])) == ("--epochs", "msimcse", 5)
    assert facts["machine"]["cores"]

    def never(*arguments: object, **flags: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(ablation, "train", never)
    assert run(tmp_path / "out") == cells
    draw("epochs", cells, "accuracy", tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
    assert (tmp_path / "picture.csv").read_text().startswith("setting,seed,accuracy\n1,1,")
