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
    function: str  # `module:function` below `xmine.evaluation`: encoder, data, options, report
    loads: tuple[str, ...] = ()  # the modules of the extra `eval` that it computes with

    def load(self) -> "Callable[..., Result]":
        """Import the function."""
        needs(f"xmine eval {self.name}", *self.loads)
        module, _, name = self.function.partition(":")
        found: Callable[..., Result] = getattr(import_module(f"xmine.evaluation.{module}"), name)
        return found


_ALL = [
    Benchmark(
        "tatoeba",
        "Is the nearest English sentence the translation, in up to 112 languages?",
        "tatoeba/tatoeba.xxx-eng.{xxx,eng}",
        options.TatoebaOptions,
        "retrieval.tatoeba:evaluate_tatoeba",
    ),
    Benchmark(
        "bitext",
        "Is the nearest line the translation, in aligned files of any kind?",
        "newstest2019/ref.*, un-devset/UNv1.0.devset.*, flores101/dev/*.dev, "
        "newstest/NAME.xxx-yyy.*, wmt21/xx-yy.*, multi30k/NAME.xxx-yyy.*, or files you name",
        options.BitextOptions,
        "retrieval.aligned:evaluate_bitext",
    ),
    Benchmark(
        "bucc",
        "How many of the translations hidden in two files of news does mining find?",
        "bucc2018/zh-en/zh-en.{sample,training,test}.{zh,en,gold}, or XTREME's zh-en.dev.*",
        options.BuccOptions,
        "retrieval.bucc:evaluate_bucc",
    ),
    Benchmark(
        "xsim",
        "How often does the best margin score go to a line that is not the translation?",
        "as bitext: flores101/dev/*.dev and others, or files you name",
        options.XsimOptions,
        "retrieval.xsim:evaluate_xsim",
    ),
    Benchmark(
        "xsim++",
        "Is the translation still found among English sentences with one thing changed?",
        "flores200/devtest/*.devtest, flores200/devtest_augmented/eng_Latn_{augmented,errtype}.*",
        options.XsimPlusPlusOptions,
        "retrieval.xsimplusplus:evaluate_xsimplusplus",
    ),
    Benchmark(
        "sts",
        "Does the cosine of two English sentences rank pairs as people do?",
        "sts/2012 to 2016, sts/sick, stsb/stsb-en-*.csv, or the folders of SentEval",
        options.StsOptions,
        "similarity.sts:evaluate_sts",
        ("scipy",),
    ),
    Benchmark(
        "xsts",
        "Does the cosine rank pairs as people do in other languages, and across two?",
        "sts17/STS2017.{eval.v1.1,gs}, sts17/STS2017-extended, stsb/stsb-*-test.csv",
        options.EvaluationOptions,
        "similarity.xsts:evaluate_xsts",
        ("scipy",),
    ),
    Benchmark(
        "align",
        "How close are sentences that mean the same, and how evenly are all spread?",
        "stsb/stsb-en-*.csv, newstest2019/ref.*, un-devset/UNv1.0.devset.*, flores101/dev/*.dev, "
        "or files you name",
        options.AlignedOptions,
        "space.uniformity:evaluate_align",
    ),
    Benchmark(
        "geometry",
        "Do the languages share one space: same distribution, same sentences, all directions?",
        "flores101/dev/*.dev or other aligned files of two languages and more",
        options.GeometryOptions,
        "space.geometry:evaluate_geometry",
        ("sklearn",),
    ),
    Benchmark(
        "cluster",
        "Do sentences of a topic lie together?",
        "tnews/dev.json, or a file of label<TAB>text lines",
        options.ClusterOptions,
        "space.clusters:evaluate_clusters",
        ("sklearn",),
    ),
    Benchmark(
        "langid",
        "How well can the language of a sentence be told from its vector?",
        "xnli/dev-*.tsv or xnli.dev.tsv; test-*.tsv or xnli.test.tsv if there",
        options.LangidOptions,
        "space.langid:evaluate_langid",
        ("sklearn",),
    ),
    Benchmark(
        "transfer",
        "How well does a head on top of the encoder learn tasks of the field?",
        "senteval/{MR,CR,SUBJ,MPQA,SST/binary,TREC,MRPC}/*; americasnli/, xnli/, pawsx/, xcopa/ "
        "with {siqa,copa}/train.jsonl, multieurlex/*.jsonl, multiarc/dataset_*_{train,test}.json",
        options.TransferOptions,
        "transfer.run:evaluate_transfer",
        ("sklearn",),
    ),
    Benchmark(
        "retrieval",
        "Are answers to a question, or the entity of a mention, among the nearest 20?",
        "lareqa/xquad-r/*.json, mewsli-x/{candidate_set_entities,wikinews_mentions-test}.jsonl",
        options.EvaluationOptions,
        "retrieval.ranking:evaluate_retrieval",
    ),
    Benchmark(
        "qe",
        "Does the cosine of a sentence and its machine translation tell how good it is?",
        "mlqe-pe/data/test21_goldlabels, mlqe-pe/data/direct-assessments, unpacked",
        options.EvaluationOptions,
        "similarity.quality:evaluate_qe",
        ("scipy",),
    ),
]
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
