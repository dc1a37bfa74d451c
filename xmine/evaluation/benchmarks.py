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
    reading: str  # how to read its figures, for the same reader
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
        "100 is perfect, one in the number of pairs is chance. The sentences are short, and "
        "some say nearly the same, so that a good encoder stays below 100.",
        "tatoeba/tatoeba.xxx-eng.{xxx,eng}",
        options.TatoebaOptions,
        "retrieval.tatoeba:evaluate_tatoeba",
    ),
    Benchmark(
        "bitext",
        "Is the nearest line the translation, in aligned files of any kind?",
        "100 is perfect. Long sentences of news or politics are easier to tell apart than the "
        "short ones of Tatoeba.",
        "newstest2019/ref.*, un-devset/UNv1.0.devset.*, flores101/dev/*.dev, "
        "newstest/NAME.xxx-yyy.*, wmt21/xx-yy.*, multi30k/NAME.xxx-yyy.*, or files you name",
        options.BitextOptions,
        "retrieval.aligned:evaluate_bitext",
    ),
    Benchmark(
        "bucc",
        "How many of the translations hidden in two files of news does mining find?",
        "The task that mining is for: few sentences have a partner, and the rest must not be "
        "given one. Precision and recall are traded by the threshold, so each row is another "
        "way to choose it: `oracle` knows the answers and is the most that a threshold can give, "
        "`auto` is what `xmine mine` does without any. `held-out` is measured on half of the "
        "sentences, which may be the easier half.",
        "bucc2018/zh-en/zh-en.{sample,training,test}.{zh,en,gold}, or XTREME's zh-en.dev.*",
        options.BuccOptions,
        "retrieval.bucc:evaluate_bucc",
    ),
    Benchmark(
        "pseudo-bucc",
        "How near to the best is the threshold that mining chooses, language by language?",
        "As `bucc`, on small files of news that were made for this: translations among lines of "
        "the same articles. `auto` is what `xmine mine` does without any threshold; where it is "
        "far below `oracle`, the estimate fails.",
        "pseudo-bucc/xx-en.dev.{xx,en,gold}",
        options.PairOptions,
        "retrieval.pseudo_bucc:evaluate_pseudo_bucc",
    ),
    Benchmark(
        "xsim",
        "How often does the best margin score go to a line that is not the translation?",
        "An error rate: 0 is perfect. The same question as `bitext`, asked with the margin "
        "score that mining uses.",
        "as bitext: flores101/dev/*.dev and others, or files you name",
        options.XsimOptions,
        "retrieval.xsim:evaluate_xsim",
    ),
    Benchmark(
        "xsim++",
        "Is the translation still found among English sentences with one thing changed?",
        "An error rate: 0 is perfect. Each English sentence has rivals that differ in one "
        "thing, a number, a name, a negation, so it is far harder than `xsim` and closer to "
        "what goes wrong in mining.",
        "flores200/devtest/*.devtest, flores200/devtest_augmented/eng_Latn_{augmented,errtype}.*",
        options.XsimPlusPlusOptions,
        "retrieval.xsimplusplus:evaluate_xsimplusplus",
    ),
    Benchmark(
        "sts",
        "Does the cosine of two English sentences rank pairs as people do?",
        "100 would be the order that people give; the encoders of the papers reach 75 to 86. "
        "It measures shades of meaning within one language and says little about mining.",
        "sts/2012 to 2016, sts/sick, stsb/stsb-en-*.csv, or the folders of SentEval",
        options.StsOptions,
        "similarity.sts:evaluate_sts",
        ("scipy",),
    ),
    Benchmark(
        "xsts",
        "Does the cosine rank pairs as people do in other languages, and across two?",
        "As `sts`, where the two sentences are of other languages, or of two. Crossed figures "
        "far below those within each language mean that the languages do not share one space.",
        "sts17/STS2017.{eval.v1.1,gs}, sts17/STS2017-extended, stsb/stsb-*-test.csv",
        options.EvaluationOptions,
        "similarity.xsts:evaluate_xsts",
        ("scipy",),
    ),
    Benchmark(
        "align",
        "How close are sentences that mean the same, and how evenly are all spread?",
        "Both lower is better, and one is easy at the cost of the other: a constant vector "
        "aligns perfectly and is not spread at all. Compare encoders on the pair of figures.",
        "stsb/stsb-en-*.csv, newstest2019/ref.*, un-devset/UNv1.0.devset.*, flores101/dev/*.dev, "
        "or files you name",
        options.AlignedOptions,
        "space.uniformity:evaluate_align",
    ),
    Benchmark(
        "geometry",
        "Do the languages share one space: same distribution, same sentences, all directions?",
        "Of use for comparing encoders on the same files, not on their own. A divergence near "
        "0 means that languages cannot be told apart by where their sentences lie; a "
        "principal ratio near 1, that all directions are used.",
        "flores101/dev/*.dev or other aligned files of two languages and more",
        options.GeometryOptions,
        "space.geometry:evaluate_geometry",
        ("sklearn",),
    ),
    Benchmark(
        "cluster",
        "Do sentences of a topic lie together?",
        "The row of random clusters is the floor. 100 would be clusters that hold one label each.",
        "tnews/dev.json, or a file of label<TAB>text lines",
        options.ClusterOptions,
        "space.clusters:evaluate_clusters",
        ("sklearn",),
    ),
    Benchmark(
        "langid",
        "How well can the language of a sentence be told from its vector?",
        "Lower means a more language-neutral space; but mSimCSE too stays above 90, as "
        "scripts and grammar leave traces. A diagnosis, not a goal.",
        "xnli/dev-*.tsv or xnli.dev.tsv; test-*.tsv or xnli.test.tsv if there",
        options.LangidOptions,
        "space.langid:evaluate_langid",
        ("sklearn",),
    ),
    Benchmark(
        "pairs",
        "Can paraphrase and entailment be told from two vectors, in each language?",
        "PAWS-X is made of pairs that share nearly all words, so that an encoder without word "
        "order stays at chance; the notes say what knowing nothing would get.",
        "pawsx/{dev,test,train}-*.tsv or x-final/*/dev_2k.tsv; xnli/{dev,test}-*.tsv or xnli.*.tsv",
        options.PairsOptions,
        "transfer.sentence_pairs:evaluate_pairs",
        ("sklearn",),
    ),
    Benchmark(
        "transfer",
        "How well does a head on top of the encoder learn tasks of the field?",
        "How much of a task's answer can be read from the vectors by a linear model, or "
        "learned with `--finetune`.",
        "senteval/{MR,CR,SUBJ,MPQA,SST/binary,TREC,MRPC}/*; americasnli/test.tsv, "
        "xnli/{train-en,test-*}.tsv, xcopa/data/*/test.*.jsonl with {siqa,copa}/train.jsonl, "
        "multieurlex/{train,dev,test}.jsonl, multiarc/dataset_*_{train,test}.json, "
        "pawsx/{train-en,test-*}.tsv",
        options.TransferOptions,
        "transfer.run:evaluate_transfer",
        ("sklearn",),
    ),
    Benchmark(
        "retrieval",
        "Are answers to a question, or the entity of a mention, among the nearest 20?",
        "Average precision among the first 20: 100 if everything wanted comes first.",
        "lareqa/xquad-r/*.json, mewsli-x/{candidate_set_entities,wikinews_mentions-test}.jsonl",
        options.EvaluationOptions,
        "retrieval.ranking:evaluate_retrieval",
    ),
    Benchmark(
        "qe",
        "Does the cosine of a sentence and its machine translation tell how good it is?",
        "Correlation with people's judgements of machine translations; 100 would be their "
        "order and spacing. Untrained encoders stay far below (10 to 55 in Emma-X, Table 2).",
        "mlqe-pe/data/test21_goldlabels, mlqe-pe/data/direct-assessments, unpacked",
        options.EvaluationOptions,
        "similarity.quality:evaluate_qe",
        ("scipy",),
    ),
]
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
# Benchmark -> the question it answers, and how to read its figures.
ABOUT = {name: (each.asks, each.reading) for name, each in BENCHMARKS.items()} | {
    "xrete": (
        "How does it do on the tasks of XRETE, the collection of Emma-X?",
        "A summary of the benchmarks above; its mean is printed only if all eleven were measured.",
    )
}
