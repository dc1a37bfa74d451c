import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xmine.errors import FileError, OptionError
from xmine.evaluation.options import StsOptions, TatoebaOptions
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.options import Options, check_names, dump_toml, load_toml, option, without_effect
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.options.shared import TrainingOptions


def test_limits_hold_whoever_makes_the_object() -> None:
    with pytest.raises(OptionError, match="--neighborhood is 0; it must be at least 1"):
        MiningOptions(neighborhood=0)
    with pytest.raises(OptionError, match="--margin is 'rato'") as error:
        MiningOptions(margin="rato")
    assert "ratio" in error.value.hint
    with pytest.raises(OptionError, match="--threshold is 'high'"):
        MiningOptions(threshold="high")
    with pytest.raises(OptionError, match="--threshold"):
        MiningOptions(threshold="nan")
    with pytest.raises(OptionError, match="--languages"):
        TrainingOptions(languages="en")
    with pytest.raises(OptionError, match="--source-weight is -1"):
        MsimcseOptions(source_weight={"book": -1.0})
    with pytest.raises(OptionError, match=r"--source-weight is 1e\+30"):
        MsimcseOptions(source_weight={"book": 1e30})
    with pytest.raises(OptionError, match="default_weight is inf; it must be finite"):
        MsimcseOptions(default_weight=float("inf"))
    assert MiningOptions(threshold="1.06").threshold == 1.06


def test_options_that_say_what_to_keep_are_checked() -> None:
    for options, message in (
        ({"precision": 95}, "--precision is 95; it must be at most 1"),
        ({"precision": -0.1}, "--precision is -0.1; it must be at least 0"),
        ({"precision": float("nan")}, "--precision is nan; it must be finite"),
        ({"precision": 0.9, "threshold": 1.1}, "--precision and --threshold"),
        ({"precision": 0.9, "threshold": "gold"}, "--precision and --threshold"),
        ({"top": 0}, "--top is 0; it must be at least 1"),
        ({"top": 1.5}, "--top is 1.5"),
        ({"drop": "copy"}, "--drop is 'copy'"),
        ({"drop": ("copy",)}, "--drop is ('copy',)"),
        ({"drop": ["copie"]}, "--drop is 'copie'"),
        ({"drop": ["copy", "hub,Number"]}, "--drop is 'Number'"),
        ({"min_prob": "high"}, "--min-prob is 'high'"),
        ({"threshold": "golden"}, "--threshold is 'golden'"),
    ):
        with pytest.raises(OptionError) as error:
            MiningOptions(**options)
        assert error.value.message.startswith(message)
    with pytest.raises(OptionError) as error:
        MiningOptions(drop=["copies"])
    assert error.value.hint == f"choose from {', '.join(FLAGS)}"
    assert MiningOptions(drop=["copy, number,", "hub"]).drop == ["copy", "number", "hub"]
    assert MiningOptions().drop == []
    with pytest.raises(OptionError, match="--drop is empty"):
        MiningOptions(drop=[" , "])
    assert MiningOptions(drop=[",".join(FLAGS)]).drop == list(FLAGS)
    assert TatoebaOptions(language=["zh,de"]).language == ["zh", "de"]
    assert StsOptions(task=["sts12,stsb"]).task == ["sts12", "stsb"]
    with pytest.raises(OptionError, match="--task is 'sts'"):
        StsOptions(task=["sts12,sts"])
    assert MsimcseOptions(exclude=["a,b.txt"]).exclude == ["a,b.txt"]
    assert MiningOptions(threshold=float("inf")).threshold == float("inf")
    assert MiningOptions(threshold="gold").threshold == "gold"
    assert MiningOptions(precision=1, top=1).precision == 1


def test_toml_holds_every_option(tmp_path: Path) -> None:
    options = MsimcseOptions(
        source_weight={"a.b": 0.5, 'c "d" 😀': 2.0}, exclude=["x.txt"], symmetric=True, epochs=2
    )
    text = dump_toml(options)
    assert MsimcseOptions(**tomllib.loads(text)) == options
    (tmp_path / "options.toml").write_text(text)
    assert load_toml(tmp_path / "options.toml")["epochs"] == 2


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no option 'epoch'") as error:
        check_names({"epoch": 1}, {"epochs", "seed"}, tmp_path / "options.toml")
    assert error.value.hint == "did you mean epochs?"


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("epochs: 3")
    with pytest.raises(FileError, match="not a TOML file"):
        load_toml(tmp_path / "bad.toml")
    with pytest.raises(FileError, match="No such file"):
        load_toml(tmp_path / "missing.toml")


@dataclass(frozen=True, kw_only=True)
class _Staged(Options):
    stage: str = option("all", "")
    shared: bool = option(False, "")
    start: str = option("", "")
    rate: float = option(0.0, "", only_if="stage=all|contrast & shared=false")
    ranks: int = option(2, "", only_if="start!=")
    weight: float = option(1.0, "", only_if="--nli")


def test_options_without_effect_are_named_with_their_reason() -> None:
    changed: dict[str, Any] = {"rate": 0.1, "ranks": 3, "weight": 2.0}
    assert without_effect(_Staged()) == []
    assert without_effect(_Staged(start="x", **changed)) == []
    assert without_effect(_Staged(stage="contrast", rate=0.1)) == []
    assert without_effect(_Staged(stage="nli", **changed), {"--nli": False}) == [
        "--rate: no effect with --stage nli",
        "--ranks: no effect without --start",
        "--weight: no effect without --nli",
    ]
    assert without_effect(_Staged(shared=True, rate=0.1)) == ["--rate: no effect with --shared"]
