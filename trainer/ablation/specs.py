"""The ablations of `xmine ablate`: what each varies, and where that comes from; no torch here."""

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from xmine.errors import OptionError
from xmine.options import flag

from ..options.shared import TrainingOptions

# What a setting may name besides the options of its method: how many files of triplets are read.
TRIPLETS = "triplets"


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is varied, and where that comes from.

    Attributes:
        method: a name in METHODS.
        option: what `--grid` gives other values of: one of the method's options, or TRIPLETS;
            empty if settings differ in several, and `--grid` can only choose among them.
        settings: name -> what is set, as it is given on the command line.
        source: the paper and its table.
    """

    method: str
    option: str
    settings: Mapping[str, Mapping[str, str]]
    source: str

    def chosen(self, grid: Sequence[str] = ()) -> dict[str, Mapping[str, str]]:
        """Give the settings that a grid names, or all.

        Raises:
            OptionError: it names one that there is not, and no option to give it to.
        """
        found = {}
        for name in grid or self.settings:
            if name not in self.settings and not self.option:
                raise OptionError(
                    f"--grid names {name!r}", f"choose from {', '.join(self.settings)}"
                )
            found[name] = self.settings.get(name) or {self.option: name}
        return found


def _of(method: str, option: str, grid: str, source: str, **more: Mapping[str, str]) -> Ablation:
    """Vary one option; `more` are settings besides its values."""
    values = {value: {option: value} for value in grid.split()}
    return Ablation(method, option, {**more, **values}, source)


_MOCO, _MSIMCSE = "Wang, Zhao, Liu (2021)", "Wang, Wu, Neubig (2022)"
_TRANSAUG, _EMMA_X = "Wang (2021)", "Guo et al. (2023)"
_NO_TEACHER = {"teacher": "embedded", "teacher_pooling": ""}  # that nothing would read
_OWN = "choice {} of docs/methods/emma-x.md"

ABLATIONS = {
    "queue-size": _of(
        "moco",
        "queue_size",
        "256 1024 4096",
        f"{_MOCO}, figure 2",
        batch={"in_batch_negatives": "true", "queue_size": "1"},
    ),
    "temperature": _of("moco", "temperature", "0.01 0.04 0.07 0.1", f"{_MOCO}, table 4"),
    "momentum": _of("moco", "momentum", "0 0.9 0.99 0.999 0.9999", f"{_MOCO}, table 5"),
    "pooling": _of("moco", "pooling", "mean max cls", f"{_MOCO}, table 6"),
    "nli-languages": _of("msimcse", TRIPLETS, "1 2", f"{_MSIMCSE}, table 1"),
    "pairs": _of("msimcse", "limit_pairs", "10000 100000 1000000", f"{_MSIMCSE}, table 6"),
    "hard-negatives": _of(
        "msimcse", "drop_hard_negatives", "false true", f"{_MSIMCSE}, tables 1 and 6"
    ),
    "epochs": _of("msimcse", "epochs", "1 2 3", f"{_MSIMCSE}, table 8"),
    "batch-size": _of("msimcse", "batch_size", "128 256", f"{_MSIMCSE}, table 8"),
    "learning-rate": _of("msimcse", "learning_rate", "1e-5 2e-5", f"{_MSIMCSE}, table 8"),
    "training-head": _of("msimcse", "training_head", "false true", f"{_MSIMCSE}, its scripts"),
    "transaug-queue-size": _of(
        "transaug", "queue_size", "1024 4096 10000 50000", f"{_TRANSAUG}, tables 2 and 3"
    ),
    "transaug-learning-rate": _of(
        "transaug", "learning_rate", "5e-5 1e-4 2e-4 5e-4", f"{_TRANSAUG}, tables 4 to 7"
    ),
    "transaug-batch-size": _of(
        "transaug", "batch_size", "128 256 400 480", f"{_TRANSAUG}, tables 4 to 7"
    ),
    "transaug-temperature": _of(
        "transaug", "temperature", "0.01 0.05 learnable", f"{_TRANSAUG}, table 8"
    ),
    "teacher": Ablation(
        "transaug",
        "",
        {"distilled": {"stage": "all"}, "as-it-is": _NO_TEACHER | {"stage": "contrast"}},
        f"{_TRANSAUG}, table 10",
    ),
    "architecture": Ablation(
        "transaug",
        "",
        {
            "frozen": {"train_teacher": "false"},
            "trained": {"train_teacher": "true"},
            "shared": _NO_TEACHER | {"share_encoder": "true", "distilled_encoder": "scratch"},
        },
        f"{_TRANSAUG}, table 11",
    ),
    "transaug-pooling": _of("transaug", "pooling", "mean cls", f"{_TRANSAUG}, table 12"),
    "phase": Ablation(
        "emma-x",
        "",
        {
            "phase-1": {"phase": "1"},
            "frozen": {"phase": "both", "freeze_gmm": "true"},
            "both": {"phase": "both"},
        },
        f"{_EMMA_X}, table 5",
    ),
    "ranks": _of("emma-x", "ranks", "2 4 8", f"{_EMMA_X}, table 6"),
    "classifier": _of("emma-x", "classifier", "gmm fcn", f"{_EMMA_X}, table 6"),
    "gmm-init": _of("emma-x", "gmm_init", "moments unit random", _OWN.format("A-14")),
    "interp-rule": _of("emma-x", "interp_rule", "uniform ceil", _OWN.format("A-16")),
    "self-positive": _of("emma-x", "self_positive", "true false", _OWN.format("A-17")),
}


def options_with(options: TrainingOptions, changes: Mapping[str, str]) -> TrainingOptions:
    """Set options to values that are given as text; TRIPLETS is none of them.

    Raises:
        OptionError: a value is none of its option, or does not go with the others.
    """
    hints = typing.get_type_hints(type(options))
    known = {field.name for field in fields(options)}
    values = {
        name: _value(name, text, hints[name]) for name, text in changes.items() if name in known
    }
    return replace(options, **values)


def _value(name: str, text: str, hint: Any) -> Any:  # noqa: ANN401 - whatever the option's type is
    kinds = typing.get_args(hint) or (hint,)
    try:
        if bool in kinds:
            return {"true": True, "false": False}[text.lower()]
        if int in kinds:
            return int(text)
        if float in kinds:
            return float(text)
    except (ValueError, KeyError):
        if str not in kinds:
            wanted = "true or false" if bool in kinds else "numbers"
            raise OptionError(f"{flag(name)} is {text!r} in the grid", f"give {wanted}") from None
    return text


def tables_of(changes: Mapping[str, str], there: int) -> int:
    """Tell how many files of triplets a setting reads, of those that there are.

    Raises:
        OptionError: there are not as many, or the number is none.
    """
    text = changes.get(TRIPLETS, str(there))
    if TRIPLETS in changes and not (text.isdecimal() and 1 <= int(text) <= there):
        raise OptionError(
            f"{flag(TRIPLETS)} is {text!r} in the grid, and {there} files are given",
            "give --triplets once for each language, the one to begin with first",
        )
    return int(text)
