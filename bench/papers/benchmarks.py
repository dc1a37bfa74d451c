"""Benchmarks that only the papers measure, beside those of `xmine eval`, and their options."""

from dataclasses import dataclass, replace

from xmine.evaluation import benchmarks
from xmine.evaluation.benchmarks import Benchmark
from xmine.evaluation.options import (
    AlignedOptions,
    BitextOptions,
    EvaluationOptions,
    FilesOptions,
    MarginOptions,
    StsOptions,
    TatoebaOptions,
)
from xmine.options import option

TRANSFER_TASKS = tuple(
    "mr cr subj mpqa sst2 trec mrpc americasnli xnli xcopa multieurlex multiarc pawsx".split()
)


@dataclass(frozen=True, kw_only=True)
class GroupOptions(EvaluationOptions):
    """Averages over groups of languages, such as head and long-tail ones."""

    groups: str = option(
        "",
        'TOML file with groups of languages to average over: head = ["deu", "fra"] and so on; '
        "emma-x: its head and long-tail ones.",
    )


@dataclass(frozen=True, kw_only=True)
class GroupedTatoebaOptions(TatoebaOptions, GroupOptions):
    """Accuracy on Tatoeba."""


@dataclass(frozen=True, kw_only=True)
class GroupedBitextOptions(BitextOptions, GroupOptions):
    """Retrieval accuracy on aligned files."""


@dataclass(frozen=True, kw_only=True)
class WhitenedStsOptions(StsOptions):
    """Semantic textual similarity."""

    whiten: bool = option(False, "Whiten the vectors of each set first (Su et al., 2021).")


@dataclass(frozen=True, kw_only=True)
class GeometryOptions(FilesOptions, GroupOptions):
    """Shape of the space that the languages of aligned files share."""


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(EvaluationOptions):
    """Purity of clusters."""

    lines: str = option("", "File of label<TAB>text lines, instead of TNEWS.")


@dataclass(frozen=True, kw_only=True)
class LangidOptions(EvaluationOptions):
    """Telling languages apart by their vectors."""

    language: list[str] = option(
        [],
        "Tell these languages apart, such as en,de,fr.",
        shown_default="en de fr hi and en tr ar bg, or all there are",
    )


@dataclass(frozen=True, kw_only=True)
class TransferOptions(EvaluationOptions):
    """Learning tasks with a head on top."""

    task: list[str] = option(
        [], "Learn only these tasks, such as mr,cr.", choices=TRANSFER_TASKS, shown_default="all"
    )
    train_languages: list[str] = option(
        [],
        "Learn XRETE's tasks from training files of these languages, or all, with --finetune.",
        shown_default="English",
        only_if="finetune=true",
    )
    finetune: bool = option(False, "Train the encoder together with the head, on each task.")
    epochs: int = option(3, "Epochs of --finetune.", min=1, only_if="finetune=true")
    learning_rate: float = option(
        0.0,
        "Peak learning rate of the encoder in --finetune; 0: by the architecture.",
        min=0,
        shown_default="0.003 static, 0.00002 transformer",
        only_if="finetune=true",
    )
    joined: bool = option(
        False,
        "Read both texts of a pair together, with --finetune; transformers only.",
        only_if="finetune=true",
    )
    seed: int = option(
        1,
        "Seed of all random numbers of --finetune.",
        min=0,
        max=2**63 - 1,
        only_if="finetune=true",
    )


@dataclass(frozen=True, kw_only=True)
class XsimPlusPlusOptions(MarginOptions):
    """Error rate of margin-based search among perturbed English sentences."""

    split: str = option("devtest", "Part of FLORES-200.", choices=("devtest", "dev"))
    language: list[str] = option(
        [], "Measure only these languages, such as fra_Latn,deu_Latn.", shown_default="all"
    )


_OWN = [
    Benchmark(
        "xsim++",
        "Is the translation still found among English sentences with one thing changed?",
        "flores200/devtest/*.devtest, flores200/devtest_augmented/eng_Latn_{augmented,errtype}.*",
        XsimPlusPlusOptions,
        "papers.xsimplusplus:evaluate_xsimplusplus",
    ),
    Benchmark(
        "xsts",
        "Does the cosine rank pairs as people do in other languages, and across two?",
        "sts17/STS2017.{eval.v1.1,gs}, sts17/STS2017-extended, stsb/stsb-*-test.csv",
        EvaluationOptions,
        "papers.xsts:evaluate_xsts",
        ("scipy",),
    ),
    Benchmark(
        "align",
        "How close are sentences that mean the same, and how evenly are all spread?",
        "stsb/stsb-en-*.csv, newstest2019/ref.*, un-devset/UNv1.0.devset.*, flores101/dev/*.dev, "
        "or files you name",
        AlignedOptions,
        "papers.align:evaluate_align",
    ),
    Benchmark(
        "geometry",
        "Do the languages share one space: same distribution, same sentences, all directions?",
        "flores101/dev/*.dev or other aligned files of two languages and more",
        GeometryOptions,
        "papers.geometry:evaluate_geometry",
        ("sklearn",),
    ),
    Benchmark(
        "cluster",
        "Do sentences of a topic lie together?",
        "tnews/dev.json, or a file of label<TAB>text lines",
        ClusterOptions,
        "papers.clusters:evaluate_clusters",
        ("sklearn",),
    ),
    Benchmark(
        "langid",
        "How well can the language of a sentence be told from its vector?",
        "xnli/dev-*.tsv or xnli.dev.tsv; test-*.tsv or xnli.test.tsv if there",
        LangidOptions,
        "papers.langid:evaluate_langid",
        ("sklearn",),
    ),
    Benchmark(
        "transfer",
        "How well does a head on top of the encoder learn tasks of the field?",
        "senteval/{MR,CR,SUBJ,MPQA,SST/binary,TREC,MRPC}/*; americasnli/, xnli/, pawsx/, xcopa/ "
        "with {siqa,copa}/train.jsonl, multieurlex/*.jsonl, multiarc/dataset_*_{train,test}.json",
        TransferOptions,
        "papers.transfer:evaluate_transfer",
        ("sklearn",),
    ),
    Benchmark(
        "retrieval",
        "Are answers to a question, or the entity of a mention, among the nearest 20?",
        "lareqa/xquad-r/*.json, mewsli-x/{candidate_set_entities,wikinews_mentions-test}.jsonl",
        EvaluationOptions,
        "papers.answers:evaluate_retrieval",
    ),
    Benchmark(
        "qe",
        "Does the cosine of a sentence and its machine translation tell how good it is?",
        "mlqe-pe/data/test21_goldlabels, mlqe-pe/data/direct-assessments, unpacked",
        EvaluationOptions,
        "papers.quality:evaluate_qe",
        ("scipy",),
    ),
]
_OWN += [
    replace(benchmarks.BENCHMARKS[name], options=options, function=f"papers.{function}")
    for name, options, function in (
        ("tatoeba", GroupedTatoebaOptions, "groups:grouped_tatoeba"),
        ("bitext", GroupedBitextOptions, "groups:grouped_bitext"),
        ("sts", WhitenedStsOptions, "whitened:whitened_sts"),
    )
]
OWN = {benchmark.name: benchmark for benchmark in _OWN}
BENCHMARKS = benchmarks.BENCHMARKS | OWN
