"""A form made from an options dataclass: each field with its help and its error."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Collapsible, Input, Label, Static

from xmine.errors import OptionError
from xmine.options import Options

from ..forms.fields import FormField, form_fields, read_form
from .toggles import Choices, Tick

_OPEN = 6  # fields of the kind itself that are shown at once; the others are in a group
_AT_ONCE = 5  # fields that are made before a key is looked at


class OptionsForm(Vertical):
    """Fields for all options of a kind; a group that is closed is as without it."""

    class Changed(Message):
        """A field has changed; sent by its row."""

    def __init__(
        self, kind: type[Options], texts: Mapping[str, str] | None = None, first: Sequence[str] = ()
    ) -> None:
        """Ask for options; `texts` by field name are shown, the fields `first` come first."""
        super().__init__(classes="form")
        self.kind = kind
        self._first = first
        self._fields = form_fields(kind)
        self._texts = {each.name: each.usual for each in self._fields} | dict(texts or {})

    def compose(self) -> ComposeResult:
        first = [each for name in self._first for each in self._fields if each.name == name]
        groups: dict[str, list[FormField]] = {}
        for each in self._fields:
            groups.setdefault(each.group, []).extend([] if each in first else [each])
        (_, own), *shared = groups.items()
        yield Rows([*first, *own[:_OPEN]], self._texts)
        if len(own) > _OPEN:
            yield Group("More", Rows(own[_OPEN:], self._texts))
        for title, fields in shared:
            yield Group(title, Rows(fields, self._texts))

    def on_mount(self) -> None:
        self.query(Rows).first().fill()

    def on_options_form_changed(self) -> None:
        with suppress(OptionError):
            self.options()

    def options(self) -> Any:  # noqa: ANN401 - of the kind
        """Read the fields; what is wrong stands beside them.

        Raises:
            OptionError: a field is wrong.
        """
        made, wrong = read_form(self.kind, self._texts)
        for row in self.query(FieldRow):
            row.complain(wrong.get(row.field.name, ""))
        if made is None:
            name, why = next(iter(wrong.items()))
            raise OptionError(why or name)
        return made

    @property
    def texts(self) -> dict[str, str]:
        """Texts other than the default, by the names of the fields."""
        usual = {each.name: each.usual for each in self._fields}
        return {name: text for name, text in self._texts.items() if text != usual[name]}


class Rows(Vertical):
    """Fields that are made a few at a time, so that keys are answered meanwhile."""

    def __init__(self, fields: list[FormField], texts: dict[str, str]) -> None:
        super().__init__(classes="group")
        self.fields, self._texts = fields, texts
        self._made = False

    def fill(self) -> None:
        """Make the fields, once."""
        if not self._made:
            self._made = True
            self._fill()

    @work(group="rows")
    async def _fill(self) -> None:
        for start in range(0, len(self.fields), _AT_ONCE):
            few = self.fields[start : start + _AT_ONCE]
            await self.mount_all(FieldRow(each, self._texts) for each in few)
            await asyncio.sleep(0)


class Group(Collapsible):
    """Fields that are made when they are first looked at."""

    def __init__(self, title: str, rows: Rows) -> None:
        super().__init__(rows, title=f"{title} ({len(rows.fields)})", collapsed=True)
        self._rows = rows

    def on_collapsible_expanded(self) -> None:
        self._rows.fill()


class FieldRow(Vertical):
    """One option: flag, field, help."""

    def __init__(self, field: FormField, texts: dict[str, str]) -> None:
        """Ask for one of the fields, and keep its text in `texts`."""
        super().__init__(classes="option")
        self.field, self._texts = field, texts

    def compose(self) -> ComposeResult:
        with Horizontal(classes="line"):
            yield Label(Text(self.field.flag), classes="flag")
            yield from self._asked()
        yield Static(self._help(), markup=False, classes="help")

    def _asked(self) -> Iterator[Input | Tick | Choices]:
        field, text = self.field, self._texts[self.field.name]
        if field.is_switch:
            yield Tick("on", text == "on", id=field.name, compact=True)
        elif field.choices:
            at = field.choices.index(text) if text in field.choices else 0
            yield Choices(tuple(each or "usual" for each in field.choices), at, id=field.name)
        else:
            yield Input(text, id=field.name, compact=True, placeholder=field.without)

    def _help(self, wrong: str = "") -> Text:
        limits = f" ({self.field.limits})" if self.field.limits else ""
        text = Text(f"{self.field.help}{limits}", "dim")
        return Text.assemble((f"! {wrong}\n", "bold"), text) if wrong else text

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._take(event.value)

    def on_checkbox_changed(self, event: Tick.Changed) -> None:
        event.stop()
        self._take("on" if event.value else "off")

    def on_radio_set_changed(self, event: Choices.Changed) -> None:
        event.stop()
        self._take(self.field.choices[event.index])

    def _take(self, text: str) -> None:
        if text != self._texts[self.field.name]:
            self._texts[self.field.name] = text
            self.post_message(OptionsForm.Changed())

    def complain(self, wrong: str) -> None:
        """Show an error; none if the text is empty."""
        if self.has_class("-wrong") or wrong:
            self.set_class(bool(wrong), "-wrong")
            self.query_one(".help", Static).update(self._help(wrong))
