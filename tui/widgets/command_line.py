"""The command that a form makes, for copying, and below it the estimate."""

import asyncio
from collections.abc import Sequence

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from ..forms.command import in_one_line
from ..jobs import ask_command
from ..text import shown

_PATIENCE = 0.6  # seconds after the last key until an estimate is asked for


class CommandLine(Vertical):
    """A command, and its estimate as soon as nothing is typed for a moment."""

    def compose(self) -> ComposeResult:
        yield Static(id="command", markup=False)
        yield Static(id="estimate", markup=False)

    def show(self, words: Sequence[str]) -> None:
        """Show a command, and soon its estimate; neither, if there are no words."""
        self.query_one("#command", Static).update(shown(in_one_line(words)) if words else "")
        self._estimate(words)

    def give_up(self) -> None:
        """Ask for no estimate any more."""
        self.workers.cancel_group(self, "estimate")

    @work(exclusive=True, group="estimate")
    async def _estimate(self, words: Sequence[str]) -> None:
        line = self.query_one("#estimate", Static)
        line.update("")
        if not words:
            return
        await asyncio.sleep(_PATIENCE)
        line.update(Text("estimating …", "dim"))
        asked = await ask_command([*words, "--dry-run"])
        if asked.code == 0:
            line.update(shown(asked.result.get("said", "no estimate")))
        else:
            said = asked.error or " ".join(asked.said[-1:])
            line.update(shown(f"! {'; '.join(filter(None, [said, asked.hint]))}"))
