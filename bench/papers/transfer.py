"""Transfer: how well a head on top of an encoder learns tasks of the field.

SentEval's seven (Conneau & Kiela, 2018), English; and those of XRETE (Emma-X, Guo et al., 2023)
that a head learns in English ("zero-shot") or in several languages ("translate-train") and that are
measured in every language there is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from papers import xrete
from papers.benchmarks import TransferOptions
from papers.frozen import FrozenLearner
from papers.metrics import METRICS, f1, task_figures
from papers.senteval import SENTEVAL, senteval_task
from papers.tasks import HeadTask, Learner
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.result import Result, Row, mean_row, paper_means
from xmine.extras import needs
from xmine.progress import Report, silent

# task -> its reader, whose tasks are folds if they are several; and one of its files
TASKS: Mapping[str, tuple[Callable[..., HeadTask | list[HeadTask]], str]] = {
    **{name: (partial(senteval_task, name=name), file) for name, file in SENTEVAL.items()},
    "americasnli": (xrete.americasnli_task, "americasnli/test.tsv"),
    "xnli": (xrete.xnli_task, "xnli/train-en.tsv"),
    "xcopa": (xrete.xcopa_task, "xcopa/data/et/test.et.jsonl"),
    "multieurlex": (xrete.multieurlex_task, "multieurlex/test.jsonl"),
    "multiarc": (xrete.multiarc_task, "multiarc/dataset_en_train.json"),
    "pawsx": (xrete.pawsx_task, "pawsx/train-en.tsv"),
}
# mean of a collection -> the tasks that it is over
_AVERAGED = {
    "SentEval, mean accuracy of 7": (*SENTEVAL,),
    "XRETE, mean accuracy of 4": ("americasnli", "xnli", "xcopa", "pawsx"),
}


def read_tasks(
    data: DataFolder, wanted: Sequence[str] = (), learned: Sequence[str] = ()
) -> dict[str, list[HeadTask]]:
    """Read the tasks that a data folder has files of, or the wanted ones; several are folds.

    Those of XRETE are `learned` from files of some languages, or all; of English if of none.
    """
    tasks = {}
    for name in [each for each in TASKS if each in wanted or not wanted]:
        try:
            more = (learned,) if learned and name not in SENTEVAL else ()
            read = TASKS[name][0](data, *more)
        except MissingData:
            if wanted:
                raise
        else:
            tasks[name] = read if isinstance(read, list) else [read]
    if not tasks:
        listed = ", ".join(f"{name} ({file})" for name, (_, file) in TASKS.items())
        raise data.missing(f"a task to learn and its other files: {listed}")
    return tasks


def evaluate_transfer(
    encoder: Encoders,
    data: DataFolder,
    options: TransferOptions,
    report: Report = silent,
    learner: Learner | None = None,
) -> Result:
    """Learn each task and measure it in each of its languages."""
    notes: list[str] = []
    tasks = read_tasks(data, options.task, options.train_languages if options.finetune else ())
    if options.finetune and learner is None:
        needs("--finetune", "torch")
        from papers.finetune import FinetunedLearner

        learner = FinetunedLearner(options)
    learn = learner or FrozenLearner()
    by_task: dict[str, list[Row]] = {}
    failed: list[str] = []
    for name, folds in list(tasks.items()):
        try:
            by_task[name] = _rows(encoder, folds, options.prompt, report, learn)
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
    begun = {x: names for x, names in _AVERAGED.items() if not means.keys().isdisjoint(names)}
    shares = [
        replace(row, name=name, figures={"accuracy": row.figures["accuracy"]})
        for name, row in means.items()
        if "accuracy" in row.figures
    ]
    averages, lacking = paper_means(begun, shares)
    notes += lacking
    rows = [row for each in by_task.values() for row in each]
    rows += [mean for name, mean in means.items() if len(by_task[name]) > 1] + averages
    stands = averages[0] if averages else next(iter(means.values()))
    splits = {name: folds[0].split for name, folds in tasks.items()}
    if "multiarc" in tasks:
        notes.append(
            "MAE, where lower is better, is in no mean with accuracies; the average of 12 tasks "
            "published for XRETE counts it as if higher were better, and does not compare."
        )
    if learner is None and not SENTEVAL.keys().isdisjoint(tasks):
        notes.append(
            "SentEval's published figures come from a classifier trained with Adam in most papers; "
            "logistic regression differs by up to half a point."
        )
    return Result(
        benchmark="transfer",
        protocol=learn.protocol,
        split="; ".join(f"{name}: {split}" for name, split in splits.items()),
        metrics=[each for each in METRICS if any(each.name in row.figures for row in rows)],
        rows=rows,
        headline=(stands.name, next(iter(stands.figures))),
        settings={**learn.settings(encoder), "splits": splits},
        notes=notes,
        failed=failed,
    )


def _rows(
    encoder: Encoders, folds: Sequence[HeadTask], prompt: str, report: Report, learn: Learner
) -> list[Row]:
    """Measure a task in each language; over folds, the mean."""
    measured: dict[str, list[Row]] = {}
    for task in folds:
        predict = learn(encoder, task, prompt, report)
        for language, test in task.tests.items():
            scores = predict(test.texts, language)
            found = task_figures(task.kind, scores, test.answers)
            if task.symmetric:
                found["f1"] = f1(scores, test.answers)
            name = task.name if task.name in SENTEVAL else f"{task.name} {language}"
            measured.setdefault(name, []).append(Row(name, len(test.texts), found))
    # A mean over folds is the figure of the task: no row stands for a fold.
    return [
        rows[0] if len(rows) == 1 else replace(mean_row(name, rows), is_mean=False)
        for name, rows in measured.items()
    ]
