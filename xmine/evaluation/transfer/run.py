"""Transfer: how well a head on top of an encoder learns tasks of the field.

SentEval's seven (Conneau & Kiela, 2018), English; and those of XRETE (Emma-X, Guo et al., 2023)
that a head learns in English and that are measured in many languages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import TransferOptions
from xmine.evaluation.result import Result, Row, mean_row
from xmine.evaluation.transfer.frozen import FrozenLearner
from xmine.evaluation.transfer.metrics import METRICS, f1, task_figures
from xmine.evaluation.transfer.senteval import SENTEVAL
from xmine.evaluation.transfer.tasks import Learner, Task, TaskSet, check_tasks, unlearned
from xmine.evaluation.transfer.xrete.documents import multiarc_task, multieurlex_task
from xmine.evaluation.transfer.xrete.pairs import americasnli_task, pawsx_task, xnli_task
from xmine.evaluation.transfer.xrete.xcopa import xcopa_task
from xmine.progress import Report, silent

# Those of Emma-X's appendix C that a head learns: from English alone, measured in every language
# there is ("zero-shot"); the paper also trains on translations ("translate-train-all").
XRETE = TaskSet(
    "XRETE",
    {
        "americasnli": (americasnli_task, "americasnli/test.tsv"),
        "xnli": (xnli_task, "xnli/train-en.tsv"),
        "xcopa": (xcopa_task, "xcopa/data/et/test.et.jsonl"),
        "multieurlex": (multieurlex_task, "multieurlex/test.jsonl"),
        "multiarc": (multiarc_task, "multiarc/dataset_en_train.json"),
        "pawsx": (pawsx_task, "pawsx/train-en.tsv"),
    },
    averaged=("americasnli", "xnli", "xcopa", "pawsx"),  # those measured by accuracy
)
_SETS = (SENTEVAL, XRETE)


def evaluate_transfer(
    encoder: Encoders,
    data: DataFolder,
    options: TransferOptions,
    report: Report = silent,
    learner: Learner | None = None,
) -> Result:
    """Learn each task and measure it in each of its languages."""
    notes: list[str] = []
    tasks = _read(data, options.task, notes.append)
    learn = learner or FrozenLearner()
    by_task: dict[str, list[Row]] = {}
    failed: list[str] = []
    for name, folds in list(tasks.items()):
        try:
            by_task[name] = _rows(
                encoder, folds, options.prompt, report, learn, name in XRETE.readers
            )
        except FileError as error:  # the others may be hours of work
            if options.task or len(tasks) == 1:
                raise
            del tasks[name]
            failed.append(name)
            notes.append(f"{name} was not measured: {error.message}")
    means = {
        name: rows[0] if len(rows) == 1 else mean_row(f"{name}, mean of {len(rows)}", rows)
        for name, rows in by_task.items()
    }
    averages = _averages(means, notes.append)
    rows = [row for each in by_task.values() for row in each]
    rows += [mean for name, mean in means.items() if len(by_task[name]) > 1] + averages
    stands = averages[0] if averages else next(iter(means.values()))
    splits = {name: folds[0].split for name, folds in tasks.items()}
    return Result(
        benchmark="transfer",
        protocol=learn.protocol,
        split="; ".join(f"{name}: {split}" for name, split in splits.items()),
        metrics=[each for each in METRICS if any(each.name in row.figures for row in rows)],
        rows=rows,
        headline=(stands.name, next(iter(stands.figures))),
        settings={**learn.settings(encoder), "splits": splits},
        notes=[*notes, *_notes(tasks, frozen=learner is None), *learn.notes()],
        failed=failed,
    )


def _read(
    data: DataFolder, wanted: Sequence[str], note: Callable[[str], None]
) -> dict[str, list[Task]]:
    """Read tasks by name; several of one name are folds of it."""
    files = {name: file for each in _SETS for name, (_, file) in each.readers.items()}
    check_tasks(wanted, files)
    tasks: dict[str, list[Task]] = {}
    for each in _SETS:
        of_set = [name for name in wanted if name in each.readers]
        if of_set or not wanted:
            for task in each.read(data, of_set, note):
                tasks.setdefault(task.name, []).append(task)
    if not tasks:
        listed = ", ".join(f"{name} ({file})" for name, file in files.items())
        raise data.missing(f"a task to learn and its other files: {listed}")
    return tasks


def _rows(
    encoder: Encoders,
    folds: Sequence[Task],
    prompt: str,
    report: Report,
    learn: Learner,
    by_language: bool,
) -> list[Row]:
    """Measure a task in each language; over folds, the mean."""
    measured: dict[str, list[Row]] = {}
    for task in folds:
        predict = learn(encoder, task, prompt, report)
        for language, test in task.tests.items():
            scores = predict(test.texts, language)
            found = task_figures(task.kind, scores, test.answers)
            if task.with_f1:
                found["f1"] = f1(scores, test.answers)
            name = f"{task.name} {language}" if by_language else task.name
            measured.setdefault(name, []).append(Row(name, len(test.texts), found))
    # A mean over folds is the figure of the task: no row stands for a fold.
    return [
        rows[0] if len(rows) == 1 else replace(mean_row(name, rows), is_mean=False)
        for name, rows in measured.items()
    ]


def _averages(means: Mapping[str, Row], note: Callable[[str], None]) -> list[Row]:
    """Average the accuracy of each collection of tasks that is complete."""
    averages = []
    for each in _SETS:
        there = [name for name in each.averaged if name in means]
        lacking = [name for name in each.averaged if name not in means]
        count = len(each.averaged)
        if there and lacking:
            note(f"No average of {each.title}'s {count}: {', '.join(lacking)} missing.")
        elif there:
            shares = {name: {"accuracy": means[name].figures["accuracy"]} for name in there}
            members = [Row(name, means[name].items, share) for name, share in shares.items()]
            averages.append(mean_row(f"{each.title}, mean accuracy of {count}", members))
    return averages


def _notes(tasks: Mapping[str, Sequence[Task]], *, frozen: bool) -> list[str]:
    """Say what the figures do not compare with, and what was asked without having been learned."""
    notes = []
    if any(folds[0].kind == "number" for folds in tasks.values()):
        notes.append(
            "MAE, where lower is better, is in no mean with accuracies; the average of 12 tasks "
            "published for XRETE counts it as if higher were better, and does not compare."
        )
    if frozen and any(name in SENTEVAL.readers for name in tasks):
        notes.append(
            "SentEval's published figures come from a classifier trained with Adam in most papers; "
            "logistic regression differs by up to half a point."
        )
    for folds in tasks.values():
        for task in folds:
            found = {name: unlearned(task, test.answers) for name, test in task.tests.items()}
            listed = "; ".join(f"{name}: {', '.join(x)}" for name, x in found.items() if x)
            if listed:
                notes.append(f"{task.name} asks for classes that {task.source} lacks: {listed}.")
    return list(dict.fromkeys(notes))
