"""A tree of folders and files, from which one is chosen."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DirectoryTree
from textual.widgets._directory_tree import DirEntry
from textual.widgets.tree import TreeNode

from xmine.run.folder import RUN_FILE

from ..text import shown
from ..widgets.moving import KeyedList
from ..widgets.prompt import Prompt, Question
from .base import BaseScreen


class PickerScreen(BaseScreen):
    """The choice of a file or a folder."""

    NAME = "Choose"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace,minus", "up", "Folder above", id="picking.up", key_display="⌫"),
        Binding("slash", "find", "Find", id="picking.find", key_display="/"),
        Binding("full_stop", "hidden", "Hidden files", id="picking.hidden", key_display="."),
        Binding("escape", "back", "Give up", id="picking.give-up"),
    ]

    def __init__(self, what: str, start: Path | None = None, *, pairs: bool = False) -> None:
        """Choose a file for `what`; the result is a path, relative below the working folder.

        With `pairs` no folder is chosen that is no run.
        """
        super().__init__()
        self._what, self._start, self._pairs = what, start or Path.cwd(), pairs

    def heading(self) -> str:
        return f"Choose {self._what}"

    def body(self) -> ComposeResult:
        yield Files(self._start, id="files")

    def on_mount(self) -> None:
        self.query_one(Files).focus()
        self.say(str(self._start))

    def on_directory_tree_file_selected(self, event: DirectoryTree.FileSelected) -> None:
        event.stop()
        self._take(event.path)

    def on_directory_tree_directory_selected(self, event: DirectoryTree.DirectorySelected) -> None:
        """Take a run, which is a folder; others are opened."""
        event.stop()
        if (event.path / RUN_FILE).is_file():
            self._take(event.path)

    def action_choose(self) -> None:
        node = self.query_one(Files).cursor_node
        if node is None or node.data is None:
            return
        path = node.data.path
        if self._pairs and path.is_dir() and not (path / RUN_FILE).is_file():
            self.say("a folder that is no run: enter opens it")
        else:
            self._take(path)

    def action_find(self) -> None:
        """Go to the first name below that holds what is typed."""
        files = self.query_one(Files)

        def look(text: str) -> None:
            nodes = map(files.get_node_at_line, range(files.last_line + 1))
            found = (text.lower() in str(node.label).lower() if node else False for node in nodes)
            files.cursor_line = next((at for at, is_it in enumerate(found) if is_it), 0)

        self.ask(Question(answered=lambda _: self.query_one(Prompt).close(), typed=look))

    def action_up(self) -> None:
        self._start = self._start.parent
        self.query_one(Files).path = self._start
        self.say(str(self._start))

    def action_hidden(self) -> None:
        files = self.query_one(Files)
        files.all = not files.all
        files.reload()

    def _take(self, path: Path) -> None:
        here = Path.cwd()
        self.dismiss(path.relative_to(here) if path.is_relative_to(here) else path)


class Files(DirectoryTree):
    """Files and folders; their names are text of others, too."""

    # Here, since a tree has these keys for something else, and is asked before its screen.
    BINDINGS: ClassVar[list[BindingType]] = [
        *KeyedList.BINDINGS,
        Binding(
            "enter", "select_cursor", "Choose, or open the folder", id="picking.enter", show=False
        ),
        Binding("space", "screen.choose", "Choose", id="picking.choose", key_display="space"),
    ]
    action_first = DirectoryTree.action_scroll_home
    action_last = DirectoryTree.action_scroll_end
    all = False

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        """Leave out hidden files."""
        return [path for path in paths if self.all or not path.name.startswith(".")]

    def render_label(self, node: TreeNode[DirEntry], base_style: Style, style: Style) -> Text:
        name = shown(str(node.label))
        name.stylize(style)
        if not node.allow_expand:
            return Text.assemble("  ", name)
        arrow = "▾ " if node.is_expanded else "▸ "
        is_run = node.data is not None and (node.data.path / RUN_FILE).is_file()
        return Text.assemble((arrow, base_style), name, "/", (" a run" if is_run else "", "dim"))
