import json
from pathlib import Path

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
        *(["step", "loss", "accuracy"], ["20", "2.0", ""], ["30", "", "0.5"], ["50", "1.0", ""]),
        ["70", "", "0.75"],
    ]
