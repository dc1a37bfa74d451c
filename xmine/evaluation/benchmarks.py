"""The table of contents: every benchmark, what it asks, what it reads, and the function behind it.

The functions are loaded when they are called, so that a list of benchmarks costs nothing.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from xmine.evaluation import options
from xmine.extras import needs

if TYPE_CHECKING:
    from collections.abc import Callable

    from xmine.evaluation.result import Result


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark."""

    name: str  # as in `xmine eval NAME`
    asks: str  # the question it answers, in one line, for someone who has not read the papers
    reads: str  # its files, as they are distributed, below the data folder
    options: type[options.EvaluationOptions]  # the dataclass of what it can be told
    function: str  # `module:function`: encoder, data, options, report
    loads: tuple[str, ...] = ()  # the modules of the extra `eval` that it computes with

    def load(self) -> "Callable[..., Result]":
        """Import the function."""
        needs(f"xmine eval {self.name}", *self.loads)
        module, _, name = self.function.partition(":")
        found: Callable[..., Result] = getattr(import_module(module), name)
        return found


_ALL = [
    Benchmark(
        "tatoeba",
        "Is the nearest English sentence the translation, in up to 112 languages?",
        "tatoeba/tatoeba.xxx-eng.{xxx,eng}",
        options.TatoebaOptions,
        "xmine.evaluation.retrieval.tatoeba:evaluate_tatoeba",
    ),
    Benchmark(
        "bitext",
        "Is the nearest line the translation, in aligned files of any kind?",
        "newstest2019/ref.*, un-devset/UNv1.0.devset.*, flores101/dev/*.dev, "
        "newstest/NAME.xxx-yyy.*, wmt21/xx-yy.*, multi30k/NAME.xxx-yyy.*, or files you name",
        options.BitextOptions,
        "xmine.evaluation.retrieval.aligned:evaluate_bitext",
    ),
    Benchmark(
        "bucc",
        "How many of the translations hidden in two files of news does mining find?",
        "bucc2018/zh-en/zh-en.{sample,training,test}.{zh,en,gold}, or XTREME's zh-en.dev.*",
        options.BuccOptions,
        "xmine.evaluation.retrieval.bucc:evaluate_bucc",
    ),
    Benchmark(
        "xsim",
        "How often does the best margin score go to a line that is not the translation?",
        "as bitext: flores101/dev/*.dev and others, or files you name",
        options.XsimOptions,
        "xmine.evaluation.retrieval.xsim:evaluate_xsim",
    ),
    Benchmark(
        "sts",
        "Does the cosine of two English sentences rank pairs as people do?",
        "sts/2012 to 2016, sts/sick, stsb/stsb-en-*.csv, or the folders of SentEval",
        options.StsOptions,
        "xmine.evaluation.similarity.sts:evaluate_sts",
        ("scipy",),
    ),
]
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
