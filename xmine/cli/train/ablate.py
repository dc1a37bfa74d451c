"""xmine ablate: a grid of settings and seeds -> one table, with the untrained encoder first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from xmine.cli.arguments import DATA, NLI, TEXTS, TRAINING_PAIRS, TRIPLETS, data_folder
from xmine.cli.console import Console, json_row, write_rows
from xmine.cli.train import made_command, tell_of
from xmine.cli.train.method_options import check_data, refuse_others, refuse_words
from xmine.errors import OptionError, TrainingError, XmineError
from xmine.extras import TRAINING, needs
from xmine.options import flag
from xmine.trainer.ablation.specs import ABLATIONS, Ablation, options_with
from xmine.trainer.options.shared import TrainingOptions

if TYPE_CHECKING:
    from xmine.evaluation.data import DataFolder
    from xmine.trainer.ablation.runner import Plan
    from xmine.trainer.ablation.tables import Cell
    from xmine.trainer.estimate import TrainingEstimate

OUTPUT = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Folder for the encoders, the table and the pictures.",
        show_default="required",
    ),
]
GRID = Annotated[
    str,
    typer.Option(
        metavar="<a,b,...>", help="Values or names of settings.", show_default="all of the above"
    ),
]
SEEDS = Annotated[
    str,
    typer.Option(
        metavar="<1,2,...>", help="Seeds: each setting is trained with each.", show_default="--seed"
    ),
]
MEASURE = Annotated[
    list[str] | None,
    typer.Option(
        metavar="<name>",
        help="Benchmark whose headline figure is measured, where there is --data; repeatable.",
        show_default="tatoeba, bucc, stsb",
    ),
]
DRY_RUN = Annotated[bool, typer.Option("--dry-run", help="Say what it will take, and stop.")]


class OfAblation(typer.core.TyperCommand):
    """The command that hands over to that of the ablation named first on its line."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: Any = None,  # noqa: ANN401 - Typer keeps the class to itself
        **extra: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Parse the line as the command of the ablation does."""
        if not args or args[0] in ("-h", "--help"):
            return super().make_context(info_name, ["--help"], parent, **extra)
        name, *rest = args
        if name not in ABLATIONS:
            raise OptionError(
                f"xmine ablate: {name!r} is no ablation",
                f"its name comes first: {', '.join(ABLATIONS)}",
            )
        refuse_words(rest, ABLATIONS[name].method, name)
        return command_of(name).make_context(f"{info_name} {name}", rest, parent, **extra)


def command_of(name: str) -> typer.core.TyperCommand:
    """Make the command of one ablation."""
    ablation = ABLATIONS[name]

    def refuse(option: str) -> None:
        refuse_others(ablation.method, option, name)

    return made_command("ablate", _running(name), ablation.method, refuse, _help_of(name))


def _help_of(name: str) -> str:
    ablation = ABLATIONS[name]
    given = (
        "--triplets nli.en.tsv --triplets nli.zh.tsv" if name == "nli-languages" else "pairs.tsv"
    )
    return "\n".join(
        [
            f"Train by {ablation.method} once for each setting and seed.\n",
            f"Example: xmine ablate {name} {given} -o {name}/\n",
            "\b\nSettings:",
            *(f"  {setting:<10}  {_in_flags(setting, ablation)}" for setting in ablation.settings),
            f"\nAfter {ablation.source}.",
        ]
    )


def _in_flags(setting: str, ablation: Ablation) -> str:
    """Say what a setting sets as it would be given to `xmine train`."""
    words = []
    for option, value in ablation.settings[setting].items():
        if value in ("true", "false"):
            words.append(flag(option) if value == "true" else f"--no-{flag(option)[2:]}")
        else:
            words.append(f"{flag(option)} {value}")
    return " ".join(words)


def _listed() -> str:
    """List all ablations: name, method, what is varied, source."""
    wide = max(map(len, ABLATIONS))
    rows = []
    for name, each in ABLATIONS.items():
        varied = f"{flag(each.option)} " if each.option else ""
        rows.append(f"  {name:<{wide}}  {varied}{', '.join(each.settings)}")
        rows.append(f"  {'':<{wide}}  {each.method}; {each.source}")
    return "\n".join(rows)


def _running(name: str) -> Callable[..., None]:
    """Make the function behind the command of an ablation."""

    def run(
        options: TrainingOptions,
        console: Console,
        pairs: TRAINING_PAIRS = None,
        triplets: TRIPLETS = None,
        nli: NLI = None,
        texts: TEXTS = None,
        output: OUTPUT = None,
        grid: GRID = "",
        seeds: SEEDS = "",
        data: DATA = None,
        measure: MEASURE = None,
        dry_run: DRY_RUN = False,
    ) -> None:
        ablation = ABLATIONS[name]
        given = {"pairs": pairs, "triplets": triplets, "nli": nli, "texts": texts}
        check_data(ablation.method, [kind for kind, files in given.items() if files], name)
        needs("xmine ablate", *TRAINING)
        if output is None:
            raise OptionError("no -o: where are the encoders to go?", f"-o {name}/")
        settings = ablation.chosen([each for each in grid.split(",") if each])
        for changes in settings.values():
            options_with(options, changes)  # so that a wrong value is told before work
        numbers = _seeds(seeds, options)
        folder = data_folder(data)
        benchmarks = _benchmarks(measure, folder)

        from xmine.trainer.ablation.headlines import Headlines
        from xmine.trainer.ablation.runner import Plan, ablate
        from xmine.trainer.data.corpus import Corpus

        corpus = Corpus.read(pairs, triplets or (), nli, texts or ())
        tell_of(corpus, given, console)
        corpus = corpus.without(options.exclude)
        about = {"--data": str(folder.path), "--measure": benchmarks} if benchmarks else {}
        plan = Plan(name, corpus, options, settings, numbers, about)
        if not grid:
            plan = _possible(plan, console)
        if _tell_estimate(plan, console, stops=dry_run):
            return
        try:
            with console.progress() as report:
                headlines = Headlines(folder, benchmarks, options.codes, console.warn, report)
                cells = ablate(
                    plan, output, headlines, report, lambda *done: _tell_cell(console, *done)
                )
        except KeyboardInterrupt:
            console.say("what is done is kept: the same command goes on from here")
            raise
        _leave(name, cells, output, console)

    return run


def _seeds(given: str, options: TrainingOptions) -> list[int]:
    """Read `1,2,3`; without it, take the one seed of the options."""
    if not given:
        return [options.seed]
    if options.seed != type(options)().seed:
        raise OptionError("--seed and --seeds", "give one of them")
    seeds = given.split(",")
    if not all(each.isdecimal() for each in seeds) or len(set(seeds)) < len(seeds):
        raise OptionError(f"--seeds is {given!r}", "give whole numbers, as in 1,2,3")
    return [int(each) for each in seeds]


def _benchmarks(measure: Sequence[str] | None, folder: "DataFolder") -> list[str]:
    """Name what is measured on benchmark files: nothing, where no folder is given."""
    from xmine.trainer.ablation.headlines import KNOWN, USUAL, benchmark_of

    for name in measure or ():
        if name not in KNOWN:
            raise OptionError(f"--measure is {name!r}", f"choose from {', '.join(KNOWN)}")
    if folder.path is None:
        if measure:
            raise OptionError(
                f"--measure {measure[0]}: there are no benchmark files", "name their folder: --data"
            )
        return []
    names = list(dict.fromkeys(measure or USUAL))
    for name in names:
        benchmark_of(name).load()  # so that a missing extra is told before the runs
    return names


def _possible(plan: "Plan", console: Console) -> "Plan":
    """Leave out the settings that the data do not allow, where others are left."""
    from xmine.trainer.estimate import check_settings

    settings, refused = {}, None
    for setting, changes in plan.settings.items():
        try:
            check_settings(*plan.of(setting))
        except TrainingError as error:
            console.warn(f"{setting} is left out: {error.message}")
            refused = error
        else:
            settings[setting] = changes
    if refused and not settings:
        raise refused
    return replace(plan, settings=settings)


def _tell_estimate(plan: "Plan", console: Console, *, stops: bool) -> bool:
    """Say what all runs take together; a setting that cannot be is an error here."""
    from xmine.trainer.estimate import estimate_training
    from xmine.units import count, duration, in_words

    each = [estimate_training(*plan.of(setting)) for setting in plan.settings]
    runs = len(each) * len(plan.seeds)
    seconds = sum(one.seconds for one in each) * len(plan.seeds)
    memory = max(one.total_memory for one in each)
    said = (
        f"estimate: {count(runs, 'run')} ({count(len(each), 'setting')}, "
        f"{count(len(plan.seeds), 'seed')}), {in_words(memory)} of memory, {duration(seconds)} on "
        f"{each[0].device}{', and the time of benchmarks' if plan.measured else ''}"
    )
    warnings = list(dict.fromkeys(_warnings(plan, each)))
    if stops:
        facts = {"runs": runs, "seconds": round(seconds, 1), "memory": memory}
        console.summary(said, {**facts, "warnings": warnings})
    else:
        console.say(said)
    for warning in warnings:
        console.warn(warning)
    return stops


def _warnings(plan: "Plan", estimates: "Sequence[TrainingEstimate]") -> Iterator[str]:
    """Say which settings will not go as they are named."""
    there = len(plan.corpus.pairs or ())
    for setting, estimate in zip(plan.settings, estimates, strict=True):
        _, options = plan.of(setting)
        yield from estimate.warnings(options)
        if options.limit_pairs > max(0, there - options.held_out):
            limit = f"--limit-pairs {options.limit_pairs:,}"
            yield f"{limit}: there are {there:,}, some of them held out"


def _tell_cell(console: Console, title: str, cell: "Cell") -> None:
    from xmine.trainer.ablation.tables import main_figures

    if cell.failed:
        console.warn(f"{title}: {cell.failed}")
        return
    names = main_figures([cell])
    console.say(f"{title}: {', '.join(f'{name} {cell.figures[name]:.3f}' for name in names)}")


def _leave(name: str, cells: "Sequence[Cell]", output: Path, console: Console) -> None:
    """Write tables and pictures, and show the table."""
    from xmine.evaluation.reports.tables import as_text
    from xmine.trainer.ablation.tables import draw, facts_of, main_figures, table_of, write_tables

    write_tables(name, cells, output)
    if console.as_json:
        write_rows([json_row({"output": str(output), **facts_of(name, cells)})])
    else:
        write_rows(line + "\n" for line in as_text(table_of(cells)))
    pictures = "a picture of each figure"
    try:
        for metric in main_figures(cells):
            draw(name, cells, metric, output / f"{metric}.png")
    except XmineError as error:
        pictures = f"no pictures: {error.message}: {error.hint}"
    console.say(f"{output}: the encoders, ablation.csv, ablation.json, {pictures}")


def ablate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which ablation; see above.")],
) -> None:
    """Stand in for the commands of all ablations: `OfAblation` hands over to one of them."""
    raise AssertionError(name)


ablate.__doc__ = "\n".join(
    [
        "Train with some settings, and say which does best.\n",
        "Example: xmine ablate temperature pairs.tsv -o temperature/ --seeds 1,2,3 --data eval/\n",
        "The table has a row for each setting, after one for the encoder that training begins "
        "with. A command that was stopped goes on if it is given again.\n",
        "\b\nAblations: what is varied, the method, where that comes from:",
        _listed(),
        "\nThe options of one are those of its method:\n",
        "  xmine ablate temperature --help",
    ]
)
COMMAND = OfAblation  # see `xmine.cli.app`
