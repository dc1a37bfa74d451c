"""Options as words of a command: the command line makes the same options of them."""

import functools
import inspect
from typing import Any

import pytest
import typer
import typer.main

from xmine.cli.fields import fields_of
from xmine.cli.from_options import with_flags
from xmine.cli.mine import mine
from xmine.mining.options import MiningOptions
from xmine.tui.commands import in_one_line, texts_of, words_of

FIELDS = {field.name: field for field in fields_of("mine")}


def parsed(words: list[str]) -> MiningOptions:
    """The options that the command makes of some words."""
    found: list[MiningOptions] = []

    def kept(**values: Any) -> None:
        found.append(values["options"])

    command = inspect.unwrap(mine)
    ours = functools.wraps(command)(kept)
    ours.__signature__ = inspect.signature(command)  # type: ignore[attr-defined]
    single = typer.Typer(add_completion=False)
    single.command("mine")(with_flags(ours))
    typer.main.get_command(single).main(["a", "b", *words], standalone_mode=False)
    return found[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (MiningOptions(), ""),
        (MiningOptions(threshold=-1.5, top=7), "--threshold=-1.5 --top 7"),
        (MiningOptions(drop=["copy", "hub"]), "--drop copy --drop hub"),
        (MiningOptions(cache=False, segment=True), "--no-cache --segment"),
        (MiningOptions(margin="distance", min_prob=0.25), "--margin distance --min-prob 0.25"),
        (MiningOptions(max_memory="3.5G", src_lang="de"), "--src-lang de --max-memory 3.5G"),
    ],
)
def test_words_give_the_same_options_back(options: MiningOptions, said: str) -> None:
    texts = texts_of(options)
    assert texts.keys() <= FIELDS.keys()
    words = [word for name, text in texts.items() for word in words_of(FIELDS[name], text)]
    assert sorted(in_one_line(words).split()[1:]) == sorted(said.split())
    assert parsed(words) == options
