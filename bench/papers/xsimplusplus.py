"""xSIM++: xSIM with perturbed sentences among the candidates; errors by what was changed in them.

Chen et al. (2023), "xSIM++: An improved proxy to bitext mining performance for low-resource
languages": FLORES-200 and LASER's `LANG_augmented.SPLIT` (a sentence a line) with
`LANG_errtype.SPLIT.json` (`{sentence: {"src": original, "errtype": kind}}`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers.benchmarks import XsimPlusPlusOptions
from papers.json_rows import as_distributed, json_file
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete, read_aligned
from xmine.evaluation.languages import chosen_languages
from xmine.evaluation.result import Metric, Result, Row, mean_of_all
from xmine.evaluation.retrieval.aligned import check_known, clamped_note, unknown_note, unknown_rows
from xmine.evaluation.retrieval.xsim import best_lines, check_neighbours, margin_in_words
from xmine.files.reading import read_lines
from xmine.progress import Report, silent

# A sentence of the references, or a perturbation of another sentence; LASER's word for it.
MISALIGNED = "misaligned"
ALL = "error"


@dataclass(frozen=True, slots=True)
class Perturbed:
    """References and their perturbations."""

    references: list[str]  # one for each line of the other languages
    perturbations: list[str]  # more sentences, each a reference with something changed
    kinds: Mapping[str, tuple[str, str]]  # perturbation -> its original and what was changed

    @property
    def texts(self) -> list[str]:
        """All candidates, references first."""
        return self.references + self.perturbations

    def names(self) -> list[str]:
        """Name the kinds of errors: what can be changed, and the misaligned last."""
        return [*sorted({kind for _, kind in self.kinds.values()}), MISALIGNED]


def errors_by_kind(chosen: NDArray[np.int64], perturbed: Perturbed) -> Counter[str]:
    """Count the lines that chose another text than their reference, by what was changed in it.

    `chosen` is int64 [references], rows of the references followed by the perturbations.
    """
    texts = [text.strip() for text in perturbed.texts]
    counts: Counter[str] = Counter()
    for row, candidate in enumerate(chosen.tolist()):
        right, found = texts[row], texts[candidate]
        if found != right:
            original, kind = perturbed.kinds.get(found, ("", ""))
            counts[kind if original == right else MISALIGNED] += 1
    return counts


def evaluate_xsimplusplus(
    encoder: Encoders, data: DataFolder, options: XsimPlusPlusOptions, report: Report = silent
) -> Result:
    """Measure the error rate from each language to one with perturbations, by kind of error."""
    split, margin, k = options.split, options.margin, options.neighborhood
    folder = data.holding(
        f"*_errtype.{split}.json",
        (f"flores200/{split}_augmented", f"{split}_augmented"),
        f"LASER's eng_Latn_augmented.{split} and eng_Latn_errtype.{split}.json",
    )
    rows, notes, kinds = [], [], list[str]()
    for path in sorted(folder.glob(f"*_errtype.{split}.json")):
        language = path.name.removesuffix(f"_errtype.{split}.json")
        plain = folder.parent / split
        perturbed = read_perturbed(folder, plain, language, split)
        kinds += perturbed.names()
        reader = encoder.reading(language)
        vectors = reader.encode(perturbed.texts, report, options.prompt)
        unknown = {f"{language} with perturbations": unknown_rows(vectors)}
        stems = sorted(path.name.removesuffix(f".{split}") for path in plain.glob(f"*.{split}"))
        found = [name for name in stems if name != language]
        if not found:
            raise FileError(f"{plain}: no language beside {language}", f"put xxx.{split} there")
        said = f"{plain}: no {{}}.{split}"
        for source in chosen_languages(options.language, found, EncoderFacts(), said):
            texts, _ = read_aligned(plain / f"{source}.{split}", plain / f"{language}.{split}")
            name = str(plain / f"{source}.{split}")
            check_neighbours(len(texts), k, margin, name)
            own = encoder.reading(source).encode(texts, report, options.prompt)
            check_known(name, (own, vectors))
            unknown[source] = unknown_rows(own)
            (best, _), raised = best_lines(own, vectors, margin, k, report)
            counts = errors_by_kind(best, perturbed)
            shares = {kind: counts[kind] / len(texts) for kind in perturbed.names()}
            figures = {ALL: sum(shares.values()), **shares}
            rows.append(Row(f"{source}-{language}", len(texts), figures))
            notes += [f"{rows[-1].name}: {note}" for note in clamped_note(raised)]
        notes.append(
            f"{language}: {len(perturbed.references):,} references and "
            f"{len(perturbed.perturbations):,} perturbations to choose from."
        )
        lacking = sum(text.strip() not in perturbed.kinds for text in perturbed.perturbations)
        if lacking:
            notes.append(f"{path.name} lacks {lacking:,} of them: counted as {MISALIGNED}.")
        notes += unknown_note(unknown)
    averages = mean_of_all("mean of {}", rows)
    named = sorted(set(kinds) - {MISALIGNED})
    return Result(
        benchmark="xsim++",
        protocol=f"{margin_in_words(margin, k)}; a choice with another text than the reference is "
        "an error",
        split=f"FLORES-200 {split} with LASER's perturbations",
        metrics=[
            Metric(ALL, "xsim++", "share of lines that miss the reference", 100, 2, "lower"),
            *(Metric(kind, kind, f"of these by {kind}", 100, 2, "lower") for kind in named),
            Metric(MISALIGNED, MISALIGNED, "by another reference's text", 100, 2, "lower"),
        ],
        rows=[*rows, *averages],
        headline=((averages or rows)[0].name, ALL),
        settings={"split": split, "margin": margin, "neighborhood": k},
        unit="lines",
        notes=notes,
    )


def read_perturbed(folder: Path, plain: Path, language: str, split: str) -> Perturbed:
    """Read references and perturbations."""
    names = [f"{language}_augmented.{split}", f"{language}_errtype.{split}.json"]
    incomplete(folder, names, "xSIM++'s augmented set")
    references = read_lines(plain / f"{language}.{split}")
    perturbations = read_lines(folder / names[0])
    path = folder / names[1]
    with as_distributed(f"{path}"):
        kinds = {
            text.strip(): (entry["src"].strip(), str(entry["errtype"]))
            for text, entry in json_file(path).items()
        }
    described = [kinds[text.strip()] for text in perturbations if text.strip() in kinds]
    if not described:
        raise FileError(f"{path}: has none of the sentences of {names[0]}", "is it another split?")
    known = {text.strip() for text in references}
    if not any(original in known for original, _ in described):
        raise FileError(
            f"{path}: no original of it is in {plain / f'{language}.{split}'}",
            "is it another split?",
        )
    return Perturbed(references, perturbations, kinds)
