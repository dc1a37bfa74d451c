"""The app stands on public parts of Textual and Rich alone, which last as long as a major does.

Ruff sees what is used of others (SLF001); here is what it does not see.
"""

import importlib
import inspect
import re
from pathlib import Path

import xmine.tui

FOLDER = Path(xmine.tui.__file__).parent
# What Textual itself writes into each class that is made of its own.
SET_BY_TEXTUAL = {
    name
    for name in vars(type("Made", (importlib.import_module("textual.screen").Screen,), {}))
    if name.startswith("_")
}


def test_the_app_imports_no_private_part_and_takes_the_place_of_none() -> None:
    for path in sorted(FOLDER.rglob("*.py")):
        lines = re.findall(r"(?:from|import) +(?:textual|rich)\b.*", path.read_text("utf-8"))
        assert not [line for line in lines if re.search(r"[ .]_", line)], path
        name = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        module = importlib.import_module(f"xmine.tui.{name}".removesuffix(".__init__"))
        for kind in filter(inspect.isclass, vars(module).values()):
            others = [each for each in kind.__mro__ if each.__module__[:4] in ("text", "rich")]
            private = {x for each in others for x in vars(each) if x[0] == "_" and x[1] != "_"}
            if kind.__module__ == module.__name__:
                taken = {x for x in private & vars(kind).keys() if not x.startswith("_abc_")}
                assert taken - SET_BY_TEXTUAL == set(), kind
