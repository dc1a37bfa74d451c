"""A question for the name of a file, into which some pairs are written."""

from functools import partial

from xmine.browsing.export import export, free_name
from xmine.browsing.opened import Rows
from xmine.display import count
from xmine.errors import XmineError

from ..widgets.form_line import paths_from
from ..widgets.prompt import Prompt, Question
from .judging_base import JudgeScreen


def ask_where(screen: JudgeScreen, rows: Rows, cut: float | None, given: str = "") -> None:
    """Ask for a file and write some pairs into it; a name that will not do stays in the line."""
    view = screen.view

    def write(name: str) -> None:
        def failed(error: XmineError) -> None:
            if screen.is_current:
                ask_where(screen, rows, cut, name)
            screen.complain(error)

        screen.query_one(Prompt).close()
        screen.say(f"writing {name}")
        work = partial(export, screen.judgements, view.opened, rows, name)
        screen.background.run(f"export {name}", work, screen.say, failed)

    screen.ask(
        Question(
            text=f"write {count(len(rows), 'pair')} to:",
            answered=write,
            given=given or free_name(view.opened, cut),
            typed=lambda _: None,  # what is said of a name stays in sight
            given_up=lambda: screen.say(""),
            ways=paths_from,
        )
    )
