"""Options as words of a command and as fields of a form: both lead back to the same options."""

import dataclasses
import functools
import inspect
from typing import Any

import pytest
import typer
import typer.main

from xmine.cli.from_options import with_console, with_options
from xmine.cli.mine import mine
from xmine.cli.train import made_command
from xmine.cli.train.run import train_with
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.options import Options
from xmine.trainer.methods import METHODS
from xmine.tui.forms.command import in_one_line, mining_words, option_words, training_words
from xmine.tui.forms.fields import form_fields, read_form

KINDS: dict[str, type[Options]] = {
    "mine": MiningOptions,
    **{name: each.options for name, each in METHODS.items()},
}
# Values that go together where one alone does not.
GO_TOGETHER: dict[str, dict[str, Any]] = {
    "threshold": {"threshold": -1.5},
    "index": {"index": "IVF16,SQfp16"},
    "languages": {"languages": "de,zh"},
    "src_lang": {"src_lang": "de"},
    "tgt_lang": {"tgt_lang": "en"},
    "drop": {"drop": ["copy", "hub,number"]},
    "max_memory": {"max_memory": "3.5G"},
    "start": {"start": "embedded", "architecture": "transformer"},
    "src_encoder": {"src_encoder": "a b/", "tgt_encoder": "-c"},
    "tgt_encoder": {"src_encoder": "a", "tgt_encoder": "b"},
    "temperature": {"temperature": 0.5},
    "momentum": {"momentum": 0.5},
    "rank_ema": {"rank_ema": 0.25},
    "source_weight": {"source_weight": {"a b": 2.0, "-c": 0.5}},
    "teacher_language": {"teacher_language": "zh"},
    "phase": {"phase": "1"},
}


def parsed(kind: str, words: list[str]) -> Any:
    """The options that the command makes of some words."""
    found: list[Any] = []

    def kept(**given: Any) -> None:
        found.append(given["options"])

    command = inspect.unwrap(mine) if kind == "mine" else train_with
    ours = functools.wraps(command)(kept)
    ours.__signature__ = inspect.signature(command)  # type: ignore[attr-defined]
    if kind == "mine":
        single = typer.Typer(add_completion=False)
        single.command("mine")(with_console(with_options(MiningOptions)(ours)))
        parser = typer.main.get_command(single)
    else:
        parser = made_command(ours, kind)
    parser.main(words[1:], standalone_mode=False)
    return found[0]


def words_of(kind: str, options: Any) -> list[str]:
    if kind == "mine":
        return mining_words("-en.txt", "zh 1.txt", options, "run/")
    return training_words(kind, {"pairs": ["-pairs.tsv"], "texts": []}, options, "encoder/")


def another(kind: type[Options], item: Any, name: str) -> dict[str, Any]:
    """Values under which a field is not as usual."""
    if name in GO_TOGETHER:
        return GO_TOGETHER[name]
    usual = item.default if item.default is not dataclasses.MISSING else item.default_factory()
    about = item.metadata
    if about["choices"]:
        return {name: next(each for each in about["choices"] if each != usual and each)}
    if isinstance(usual, bool):
        return {name: not usual}
    if isinstance(usual, int):
        return {name: usual + 3 if usual else 30}  # 0 stands for what follows from the data
    if isinstance(usual, float) or usual is None:
        whole = item.type in ("int | None", int | None)
        return {name: 7 if whole else (about["max"] or 2.0) * 0.75}
    if isinstance(usual, list):
        return {name: ["-odd.txt", "b c.txt"]}
    return {name: "-x y"}


def all_changed(of: type[Options]) -> list[Options]:
    """Options in which every field is changed once; as many at a time as go together."""
    waiting = [another(of, item, item.name) for item in dataclasses.fields(of)]  # type: ignore[arg-type]
    made: list[Options] = []
    while waiting:
        values: dict[str, Any] = {}
        later = []
        for more in waiting:
            try:
                of(**values, **{name: x for name, x in more.items() if name not in values})
            except OptionError:
                later.append(more)
            else:
                values |= more
        assert len(later) < len(waiting), f"{later[0]} goes with nothing"
        made.append(of(**values))
        waiting = later
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_words_give_the_same_options_back(kind: str) -> None:
    of = KINDS[kind]
    assert option_words(of()) == []
    for options in [of(), *all_changed(of)]:
        words = words_of(kind, options)
        assert parsed(kind, words) == options, in_one_line(words)


def test_only_what_differs_is_said() -> None:
    options = MiningOptions(threshold=1.25, dedup=False, drop=["copy"])
    assert mining_words("a", "b", options, "-run")[3:5] == ["-o", "./-run"]
    assert mining_words("a", "b", options, "-")[3:5] == ["-o", "-"]
    assert in_one_line(mining_words("en.txt", "zh.txt", options, "run/", more={"model": ""})) == (
        "xmine mine en.txt zh.txt -o run/ --threshold 1.25 --drop copy --no-dedup"
    )
    moco = METHODS["moco"].options(architecture="transformer")
    words = training_words("moco", {"pairs": ["p.tsv"]}, moco, "e/", in_the_way="go on")
    assert in_one_line(words) == (
        "xmine train p.tsv --method moco -o e/ --architecture transformer --resume"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_left_alone_gives_the_usual_options(kind: str) -> None:
    of = KINDS[kind]
    fields = form_fields(of)
    assert {each.name for each in fields} == {
        item.name
        for item in dataclasses.fields(of)  # type: ignore[arg-type]
    }
    assert all(each.help for each in fields)
    assert read_form(of, {each.name: each.usual for each in fields}) == (of(), {})
    assert read_form(of, {each.name: "" for each in fields}) == (of(), {})


def test_own_fields_come_first() -> None:
    groups = [each.group for each in form_fields(METHODS["moco"].options)]
    assert [*dict.fromkeys(groups)] == [
        "Dual momentum contrast: two encoders, two queues",
        "What methods share whose keys come from a copy that follows the encoder slowly",
        "What methods with a queue of negatives share",
        "What every method needs: data, vocabulary, architecture, optimiser, checks on the way",
        "What stands before the sentences of each side",
    ]


def test_what_is_typed_becomes_values() -> None:
    typed = {"threshold": "1.3", "top": "1,000", "drop": "copy, hub", "dedup": "off", "margin": ""}
    options, wrong = read_form(MiningOptions, typed)
    assert wrong == {}
    assert options == MiningOptions(threshold=1.3, top=1000, drop=["copy", "hub"], dedup=False)
    typed = {"source_weight": "ted=2 wiki=0.5", "exclude": "a,b.txt "}
    trained, wrong = read_form(METHODS["moco"].options, typed)
    assert wrong == {}
    assert getattr(trained, "source_weight", None) == {"ted": 2.0, "wiki": 0.5}
    assert getattr(trained, "exclude", None) == ["a,b.txt"]


def test_every_wrong_field_is_told_beside_it() -> None:
    typed = {
        "threshold": "much",
        "neighborhood": "0",
        "recall": "high",
        "top": "1.5",
        "drop": "ugly",
        "dedup": "off",
    }
    options, wrong = read_form(MiningOptions, typed)
    assert options is None
    assert wrong.keys() == typed.keys() - {"dedup"}
    assert wrong["neighborhood"] == "--neighborhood is 0; it must be at least 1"
    assert wrong["recall"] == "--recall is 'high'; give a number"
    assert wrong["drop"].startswith("--drop is 'ugly'; choose from hub, copy")


def test_two_fields_that_do_not_go_together_are_told() -> None:
    options, wrong = read_form(MiningOptions, {"precision": "0.9", "threshold": "1.1"})
    assert options is None
    assert wrong == {
        "precision": "--precision and --threshold; both choose where to cut: give one of them"
    }
    _, wrong = read_form(METHODS["moco"].options, {"start": "embedded", "architecture": ""})
    assert "--architecture transformer" in wrong["start"]
