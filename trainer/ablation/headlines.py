"""Encoders and a folder of benchmark files -> the headline figure of each benchmark.

Two encoders, one for each side, are measured on English alone, with the one that reads it: the
other benchmarks read both languages with one encoder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import XmineError
from xmine.evaluation.benchmarks import BENCHMARKS, Benchmark
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.result import Result
from xmine.evaluation.retrieval.tatoeba import CODES
from xmine.progress import Report, silent

# A benchmark, or a part of one, by the name that a figure has.
STSB = "stsb"
KNOWN = (*BENCHMARKS, STSB)
USUAL = ("tatoeba", "bucc", STSB)
_OF_ENGLISH = ("sts", STSB)


def benchmark_of(name: str) -> Benchmark:
    """Find the benchmark behind a name of KNOWN."""
    return BENCHMARKS["sts" if name == STSB else name]


class Headlines:
    """What measures encoders on some benchmarks; those without files are left out, and told of."""

    def __init__(
        self,
        data: DataFolder,
        names: Sequence[str] = USUAL,
        languages: Sequence[str] = ("en", "zh"),
        warn: Callable[[str], None] = lambda text: None,
        report: Report = silent,
    ) -> None:
        """Say what to measure.

        Args:
            data: the folder with the benchmarks' files.
            names: of KNOWN.
            languages: codes of what the encoders read, first the source: Tatoeba is of these.
            warn: called, once each, with what cannot be measured and why.
            report: called while it goes on.
        """
        self.data, self.names, self.languages = data, names, languages
        self.report = report
        self._warn = warn
        self._told: set[str] = set()

    def __call__(self, encoders: Mapping[str, SentenceEncoder]) -> dict[str, float]:
        """Measure one encoder, under an empty name, or that of `source` or `target`.

        Returns:
            Name -> headline figure, unscaled; without what cannot be measured.
        """
        found = {}
        for name in self.names:
            encoder = self._reader(name, encoders)
            if encoder is None:
                self._tell(
                    f"{name} is not measured: it needs one encoder that reads both languages"
                )
                continue
            try:
                result = self._measure(name, encoder)
            except MissingData as error:
                self._tell(f"{name} is not measured: there are no files: {error.expected}")
            except XmineError as error:
                self._tell(f"{name}: {error.message}")
            else:
                figure = result.figure(*result.headline)
                if figure is not None:
                    found[name] = figure
        return found

    def _reader(self, name: str, encoders: Mapping[str, SentenceEncoder]) -> SentenceEncoder | None:
        """Choose the encoder that reads what a benchmark is made of."""
        if "" in encoders:
            return encoders[""]
        if name in _OF_ENGLISH and "en" in self.languages:
            return encoders[("source", "target")[list(self.languages).index("en")]]
        return None

    def _measure(self, name: str, encoder: SentenceEncoder) -> Result:
        benchmark = benchmark_of(name)
        options: Any = benchmark.options()
        if name == STSB:
            options = replace(options, task=[STSB])
        if name == "tatoeba":  # of 112 languages, those that the headline would be the mean of
            folder = self.data.find("tatoeba.*-eng.*", ("tatoeba", "data/tatoeba/v1"))
            known = [CODES[each] for each in self.languages if each in CODES]
            there = [each for each in known if folder and any(folder.glob(f"tatoeba.{each}-eng.*"))]
            options = replace(options, language=there)
        return benchmark.load()(encoder, self.data, options, self.report)

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._warn(text)
