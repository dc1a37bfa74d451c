import json
from pathlib import Path

import pytest

from xmine.trainer.run import picture
from xmine.trainer.run.picture import draw_training


def written(folder: Path, lines: list[dict[str, object]]) -> list[list[str]]:
    metrics = folder / "metrics.jsonl"
    metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw_training(metrics, "a run")
    rows = (folder / "training.csv").read_text().splitlines()
    assert (folder / "training.svg").read_text().startswith("<?xml")
    return [row.split(",") for row in rows]


def test_stages_are_drawn_one_behind_the_other(tmp_path: Path) -> None:
    rows = written(
        tmp_path,
        [
            {"step": 0, "excluded": 0},
            {"stage": "distil", "step": 20, "lr": 0.1, "loss": 2.0},
            {"stage": "distil", "step": 30, "accuracy": 0.5, "forward": 0.4},
            {"step": 0, "remark": "a weak start"},
            {"stage": "contrast", "step": 20, "lr": 0.1, "loss": 1.0},
            {"stage": "contrast", "step": 40, "accuracy": 0.75},
        ],
    )
    assert rows == [
        ["step", "loss", "accuracy"],
        ["20", "2.0", ""],
        ["30", "", "0.5"],
        ["50", "1.0", ""],
        ["70", "", "0.75"],
    ]


def test_a_stage_has_a_curve_of_its_own_and_the_loss_is_the_encoders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = []
    monkeypatch.setattr(picture, "write_picture", lambda figure, *_: figures.append(figure))
    lines = [
        {"stage": "phase-1", "step": 20, "loss": 13.0, "contrast": 2.0, "ranking": 11.0},
        {"stage": "phase-1", "step": 40, "loss": 1.5, "contrast": 1.5},
        {"stage": "phase-1", "step": 40, "accuracy": 0.5},
        {"stage": "phase-2", "step": 20, "loss": 103.0, "contrast": 3.0, "ranking": 100.0},
        {"stage": "phase-2", "step": 20, "accuracy": 0.75},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw_training(tmp_path / "metrics.jsonl", "a run")
    left, right = figures[0].axes
    drawn = [line for line in [*left.lines, *right.lines] if line.get_linestyle() == "-"]
    curves = [line.get_xydata().tolist() for line in drawn]
    assert curves == [[[20, 2], [40, 1.5]], [[60, 3]], [[40, 0.5]], [[60, 0.75]]]
    (legend,) = figures[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["loss", "accuracy"]
