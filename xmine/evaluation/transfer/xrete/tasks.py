"""The tasks of XRETE that a head learns: files in a data folder -> what is learned and measured on.

Emma-X (Guo et al., 2023), appendix C. All are learned from English alone and measured in every
language there is ("zero-shot"); the paper also trains on translations ("translate-train-all").
"""

from collections.abc import Callable

from xmine.evaluation.data import DataFolder
from xmine.evaluation.transfer.tasks import Task, TaskSet
from xmine.evaluation.transfer.xrete.multiarc import multiarc_task
from xmine.evaluation.transfer.xrete.multieurlex import multieurlex_task
from xmine.evaluation.transfer.xrete.pairs import americasnli_task, pawsx_task, xnli_task
from xmine.evaluation.transfer.xrete.xcopa import xcopa_task

# name -> reader of the task, and one of its files in the data folder
_TASKS = {
    "americasnli": (americasnli_task, "americasnli/test.tsv"),
    "xnli": (xnli_task, "xnli/train-en.tsv"),
    "xcopa": (xcopa_task, "xcopa/data/et/test.et.jsonl"),
    "multieurlex": (multieurlex_task, "multieurlex/test.jsonl"),
    "multiarc": (multiarc_task, "multiarc/dataset_en_train.json"),
    "pawsx": (pawsx_task, "pawsx/train-en.tsv"),
}


def _alone(read: Callable[[DataFolder], Task]) -> Callable[[DataFolder], list[Task]]:
    return lambda data: [read(data)]


XRETE = TaskSet(
    "XRETE",
    {name: _alone(read) for name, (read, _) in _TASKS.items()},
    {name: file for name, (_, file) in _TASKS.items()},
    averaged=("americasnli", "xnli", "xcopa", "pawsx"),  # those measured by accuracy
    by_language=True,
)
