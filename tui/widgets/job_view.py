"""A job on the screen: the command, a bar for each stage, the losses, messages, the end."""

import time
from statistics import fmean

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Sparkline, Static

from xmine.display import short
from xmine.progress import Progress

from ..commands import in_one_line
from ..jobs import Job, outcome, share
from ..text import shown

_MOST_SAID = 200
_NAME = len("looking for stretches")  # the longest name of a stage


class JobView(Vertical):
    """One job, as it is now."""

    def compose(self) -> ComposeResult:
        yield Static(id="job-command", markup=False)
        yield Static(id="job-stages", markup=False)
        yield Sparkline(id="job-losses", summary_function=fmean)
        with VerticalScroll(id="job-said"):
            yield Static(id="job-lines", markup=False)

    def show(self, job: Job) -> None:
        self.query_one("#job-command", Static).update(shown(in_one_line(job.words)))
        # The width is that of the app: ours is not known before it is shown.
        room = max(10, self.app.size.width - 43 - _NAME)
        rows = [bar(stage, room) for stage in job.stages.values()]
        self.query_one("#job-stages", Static).update(Text("\n").join(rows))
        losses = self.query_one("#job-losses", Sparkline)
        losses.data, losses.display = [*job.losses], bool(job.losses)
        said = [*map(shown, job.said[-_MOST_SAID:]), *ending(job)] or [Text("starting …", "dim")]
        self.query_one("#job-lines", Static).update(Text("\n").join(said))
        if not job.runs:
            self.query_one("#job-said", VerticalScroll).scroll_end(animate=False)


def bar(stage: Progress, room: int) -> Text:
    """Draw a stage: sign, name, bar, share, figures."""
    done = share(stage)
    full = int(done * room)
    going = stage.numbers if done < 1 else {}
    numbers = "  ".join(f"{name} {short(x)}" for name, x in going.items())
    return Text.assemble(
        ("✓ " if done == 1 else "▸ ", "bold"),
        f"{stage.stage:<{_NAME}} ",
        ("━" * full, "bold"),
        ("─" * (room - full), "dim"),
        f" {done:>4.0%} {stage.done:,} of {stage.total:,}",
        f"\n  {numbers}" if numbers else "",
        overflow="ellipsis",
    )


def ending(job: Job) -> list[Text]:
    """Say how a job ended; nothing while it runs."""
    if job.runs:
        return []
    if job.code == 0:
        return [Text(f"done in {clock(job.seconds)}", "bold")]
    if job.cancelled:
        return [Text("stopped; what was done is kept", "bold")]
    said = [Text("! ", "bold") + shown(job.error or f"ended with exit code {job.code}")]
    return said + ([shown(f"hint: {job.hint}")] if job.hint else [])


def clock(seconds: float) -> str:
    """Write a time."""
    minutes, rest = divmod(int(seconds), 60)
    return (
        f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
    )


def going(job: Job) -> str:
    """Say for how long a job has run and how long its stage will take, or how it ended."""
    if not job.runs:
        return outcome(job)
    left, taken = job.stage_left, clock(time.monotonic() - job.started)
    return taken if left is None else f"{taken}, {clock(left)} to go"
