"""An options dataclass -> the fields of a form; their texts -> the options."""

import dataclasses
import inspect
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any

from xmine.errors import OptionError
from xmine.options import Options, flag, in_words


@dataclass(frozen=True, slots=True)
class FormField:
    """One option as a form asks for it.

    Attributes:
        name: of the option, as in `batch_size`.
        group: title of the group of fields: the first line of the class that declares the option.
        help: of the option.
        usual: the default as a text; empty for no value.
        without: the placeholder of an empty field.
        choices: the possible values; empty for any value of the type.
        limits: lowest and highest number, for people; empty if there are none.
        hint: the type.
    """

    name: str
    group: str
    help: str
    usual: str
    without: str
    choices: tuple[str, ...]
    limits: str
    hint: Any

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return flag(self.name)

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return self.hint is bool

    def value(self, text: str) -> Any:  # noqa: ANN401 - of the type `hint`
        """Turn the text of the field into a value.

        Raises:
            OptionError: it is of another type.
        """
        try:
            return _read(self.hint, text.strip() if self.hint is not str else text)
        except ValueError:
            raise OptionError(f"{self.flag} is {text!r}", f"give {in_words(self.hint)}") from None


def form_fields(kind: type[Options]) -> list[FormField]:
    """List the fields of an options dataclass, its own first, then those it inherits."""
    hints = typing.get_type_hints(kind)
    own = [set(inspect.get_annotations(parent)) for parent in kind.__mro__]
    found = []
    for item in dataclasses.fields(kind):  # type: ignore[arg-type]
        at = next(n for n, names in enumerate(own) if item.name in names)
        usual = "" if item.default_factory is not dataclasses.MISSING else item.default
        about = item.metadata
        without = about["shown_default"] or "none"
        written = FormField(
            item.name,
            (kind.__mro__[at].__doc__ or "").partition("\n")[0].rstrip("."),
            about["help"],
            "" if usual is None else _written(usual),
            without if usual in ("", None) or about["shown_default"] else _written(usual),
            () if typing.get_origin(hints[item.name]) is list else about["choices"],
            _limits(about["min"], about["max"]),
            hints[item.name],
        )
        found.append((at, written))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def read_form(
    kind: type[Options], texts: Mapping[str, str]
) -> tuple[Options | None, dict[str, str]]:
    """Make the options out of the texts of the fields.

    Returns:
        the options, None where something is wrong; and what is wrong with each field, by its name.
        A field that is blank is as without it.
    """
    fields = {each.name: each for each in form_fields(kind)}
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, text in texts.items():
        if text.strip():
            try:
                values[name] = fields[name].value(text)
            except OptionError as error:
                wrong[name] = _of(error)
    while True:
        try:
            made = kind(**values)
        except OptionError as error:
            named = [x.replace("-", "_") for x in re.findall(r"--([a-z][a-z-]*)", error.message)]
            given = [name for name in named if name in values]
            if not given:  # of a field that was left as it is
                wrong.setdefault(next((name for name in named if name in fields), ""), _of(error))
                return None, wrong
            wrong[given[0]] = _of(error)
            del values[given[0]]
        else:
            return (None if wrong else made), {
                name: wrong[name] for name in fields if name in wrong
            }


def _of(error: OptionError) -> str:
    return "; ".join(filter(None, [error.message, error.hint]))


def _read(hint: Any, text: str) -> Any:  # noqa: ANN401
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is UnionType:
        return text if str in parts else _read(parts[0], text)  # options read a number or a word
    if hint is bool:
        return text == "on"
    if kind is dict:
        return {key: float(x) for key, _, x in (each.rpartition("=") for each in text.split())}
    if kind is list:
        return [text]  # options cut the text at commas where they take several values
    if hint is int:
        return int(text.replace(",", "").replace("_", ""))
    return float(text) if hint is float else text


def _written(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _limits(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    return "" if high is None else f"at most {high:g}"
