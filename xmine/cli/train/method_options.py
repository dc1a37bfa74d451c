"""xmine train: which options it has, which follow from `--method`; shared with xmine ablate."""

from collections.abc import Sequence
from dataclasses import fields

from xmine.errors import OptionError
from xmine.options import flag
from xmine.trainer.methods import METHODS

USUAL = "msimcse"

# Kinds of a corpus -> how they are given.
GIVEN = {"pairs": "PAIRS", "triplets": "--triplets", "nli": "--nli", "texts": "--texts"}


def chosen_method(arguments: Sequence[str]) -> str:
    """Find the method among the words of a command line; empty if none is named.

    Raises:
        OptionError: there is no such method.
    """
    name, words = "", iter(arguments)
    for word in words:
        if word == "--":
            break
        if word == "--method":
            name = next(words, "")
        elif word.startswith("--method="):
            name = word.partition("=")[2]
        else:
            continue
        check_method(name)
    return name


def check_method(name: str) -> str:
    """Refuse what is no method."""
    if name not in METHODS:
        raise OptionError(f"--method is {name!r}", f"choose from {', '.join(METHODS)}")
    return name


def refuse_others(method: str, name: str, ablation: str = "") -> None:
    """Refuse an option, a field's name, that other methods have and this one has not.

    Args:
        method: that is trained by.
        name: of a field.
        ablation: what chose the method, if it was not `--method`.

    Raises:
        OptionError: the message says whose it is.
    """
    owners = [
        each for each, of in METHODS.items() if name in {field.name for field in fields(of.options)}
    ]
    if owners and method not in owners:
        others = "" if ablation else f", or give --method {owners[0]}"
        raise OptionError(
            f"{flag(name)} is for {', '.join(owners)}; {_chosen(method, ablation)}",
            f"leave it out{others}",
        )


def _chosen(method: str, ablation: str) -> str:
    return f"xmine ablate {ablation} is of {method}" if ablation else f"--method is {method}"


def refuse_words(words: Sequence[str], method: str, ablation: str = "") -> None:
    """Refuse the options of other methods on a command line."""
    for word in words[: words.index("--")] if "--" in words else words:
        if word.startswith("--"):
            name = word[2:].partition("=")[0].removeprefix("no-")
            refuse_others(method, name.replace("-", "_"), ablation)


def check_data(method: str, kinds: Sequence[str], ablation: str = "") -> None:
    """Refuse data that the method does not learn from, and none at all.

    Raises:
        OptionError: the message says who learns from it, or what there is to give.
    """
    of = METHODS[method]
    sources = ", ".join(GIVEN[each] for each in of.reads)
    for kind in kinds:
        if kind not in of.reads:
            readers = [name for name, each in METHODS.items() if kind in each.reads]
            raise OptionError(
                f"{GIVEN[kind]} is for {', '.join(readers)}; {_chosen(method, ablation)}",
                f"{method} learns from {sources}",
            )
    if not kinds and ablation:
        raise OptionError(
            f"xmine ablate {ablation} has nothing to learn from: {method} takes {sources}",
            f"xmine ablate {ablation} pairs.tsv -o {ablation}/",
        )
    if not kinds and of.demonstration is None:
        raise OptionError(
            f"--method {method} has nothing to learn from: it takes {sources}", example_of(method)
        )


def help_of(method: str) -> str:
    """Write the first lines of a method's help; without one, of those that all share."""
    if method:
        of = METHODS[method]
        sources = ", ".join(GIVEN[kind] for kind in of.reads)
        return (
            f"Train an encoder by {of.title}. It learns from {sources}.\n\n"
            f"Example: {example_of(method)}"
        )
    wide = max(map(len, METHODS))
    rows = [
        f"  {name:<{wide}}  {each.title}: {', '.join(GIVEN[kind] for kind in each.reads)}"
        for name, each in METHODS.items()
    ]
    return "\n".join(
        [
            "Train an encoder of your own.\n",
            f"Example: {example_of(USUAL)}\n",
            "\b\nMethods, and what they learn from:",
            *rows,
            "\nBelow are the options of all methods. Those of one method, too:\n",
            f"  xmine train --method {USUAL} --help",
        ]
    )


def example_of(method: str) -> str:
    """Give a command that trains by a method."""
    file = {"pairs": "pairs.tsv", "triplets": "--triplets nli.tsv", "texts": "--texts en.txt"}
    what = next(file[kind] for kind in METHODS[method].reads if kind in file)
    return f"xmine train {what} -o encoder/ --method {method}"
