"""The benchmark of the embedded encoder: a seed that was trained is not trained again."""

import json
from pathlib import Path

import embedded
import pytest

SUMMARY = {"seconds": 1.0, "forward": 0.9, "backward": 0.8, "accuracy_en-de": 0.7, "pairs": 5}


def test_a_seed_is_trained_once_with_the_same_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The options of a run name those, too, that the file leaves out."""
    file, folder, asked = tmp_path / "options.toml", tmp_path / "seed-2", list[str]()

    def train(*arguments: str) -> str:
        asked.append(arguments[arguments.index("--seed") + 1])
        folder.mkdir(exist_ok=True)
        known = f"{file.read_text('utf-8')}\nseed = {asked[-1]}\nlayers = 2\n"
        (folder / "options.toml").write_text(known, encoding="utf-8")
        return json.dumps(SUMMARY)

    monkeypatch.setattr(embedded, "xmine", train)
    file.write_text("epochs = 3\n", encoding="utf-8")
    found = embedded._train(["pairs.tsv"], file, folder, 2)
    assert found == {name: SUMMARY[name] for name in SUMMARY if name != "pairs"}
    assert embedded._train(["pairs.tsv"], file, folder, 2) == found
    assert asked == ["2"]
    file.write_text("epochs = 4\n", encoding="utf-8")
    embedded._train(["pairs.tsv"], file, folder, 2)
    embedded._train(["pairs.tsv"], file, folder, 3)
    assert asked == ["2", "2", "3"]
    folder.with_suffix(".json").unlink()  # killed before the summary was there
    embedded._train(["pairs.tsv"], file, folder, 3)
    assert asked == ["2", "2", "3", "3"]
