"""xmine pairs: counts of a run or a file of pairs, and the other commands that look into one.

Each other command of `xmine pairs` has a file here; what they show is found in `xmine.browsing`.
"""

import typer

from xmine.cli.arguments import PAIRS
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_flags
from xmine.cli.pairs.cut import cut
from xmine.cli.pairs.diff import diff
from xmine.cli.pairs.judge import judge
from xmine.cli.pairs.list_pairs import list_pairs
from xmine.cli.pairs.push import push
from xmine.cli.pairs.show import show_pair

pairs = typer.Typer(help="Look into a run or a file of pairs.", no_args_is_help=True)


@with_flags
def stats(file: PAIRS, console: Console) -> None:
    """Show counts, repetitions, lengths, scores and flags.

    Example: xmine pairs stats pairs.tsv
    """
    from xmine.pairs.io import languages_of, read_pairs
    from xmine.pairs.losses import Losses
    from xmine.pairs.statistics import survey

    languages, losses = languages_of(file), Losses()
    found = survey(read_pairs(file, losses))
    if console.as_json:
        facts = {"file": file, "languages": list(languages) if languages else None, **found}
        console.summary("", {**facts, "notes": losses.notes()})
        return
    counts = {name: f"{found[name]:,}" for name in found if isinstance(found[name], int)}
    if languages:
        counts = {"languages": f"{languages[0]}, {languages[1]}", **counts}
    write_rows(f"{name.replace('_', ' '):<18}{value:>10}\n" for name, value in counts.items())
    if found["flags"] is not None:
        flags = found["flags"].items()
        write_rows(["\n", f"{'flag':<18}{'pairs':>10}\n"])
        write_rows(f"{name:<18}{number:>10,}\n" for name, number in flags or [("none", 0)])
    spreads = {name: found[name] for name in found if isinstance(found[name], list)}
    if spreads:
        columns = ("lowest", "25%", "median", "75%", "highest")
        write_rows(["\n", " " * 18 + "".join(f"{name:>10}" for name in columns) + "\n"])
    for name, spread in spreads.items():
        form = ",.0f" if name.endswith("length") else ".4f"
        cells = "".join(f"{value:>10{form}}" for value in spread)
        write_rows([f"{name.replace('_', ' '):<18}{cells}\n"])
    console.say(", ".join(losses.notes()))


pairs.command("list")(list_pairs)
pairs.command("show")(show_pair)
pairs.command("stats")(stats)
pairs.command("diff")(diff)
pairs.command("judge")(judge)
pairs.command("cut")(cut)
pairs.command("push", short_help="Put pairs on the Hugging Face hub, with a card.")(push)
