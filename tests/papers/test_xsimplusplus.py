"""xSIM++: perturbations by kind, a slow computation beside the fast one, files, errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from papers.benchmarks import XsimPlusPlusOptions
from papers.xsimplusplus import (
    Perturbed,
    errors_by_kind,
    evaluate_xsimplusplus,
    read_perturbed,
)

from tests.toys.files import write
from tests.toys.xsim import CHOICES, loose, slow_lines
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.result import Result
from xmine.pairs.io import ParallelText


def augmented(folder: Path, pairs: ParallelText) -> DataFolder:
    """Make a small set as LASER distributes it: two perturbations of each English sentence."""
    english, chinese = list(pairs.sources[:30]), list(pairs.targets[:30])
    other = pairs.sources[100:130]
    near = [f"{text} {strange.split()[0]}" for text, strange in zip(english, other, strict=True)]
    far = [
        " ".join(strange.split()[:4] + text.split()[:1])
        for text, strange in zip(english, other, strict=True)
    ]
    kinds = {
        text: {"src": source, "errtype": "entity"}
        for text, source in zip(near, english, strict=True)
    }
    kinds |= {
        text: {"src": source, "errtype": "number"}
        for text, source in zip(far, english, strict=True)
    }
    for language, texts in (("eng_Latn", english), ("zho_Hans", chinese)):
        write(folder / "flores200" / "devtest" / f"{language}.devtest", texts)
    place = folder / "flores200" / "devtest_augmented"
    write(place / "eng_Latn_augmented.devtest", near + far)
    (place / "eng_Latn_errtype.devtest.json").write_text(json.dumps(kinds), encoding="utf-8")
    return DataFolder(folder)


def measure(encoder: SentenceEncoder, data: DataFolder, **options: Any) -> Result:
    return evaluate_xsimplusplus(encoder, data, XsimPlusPlusOptions(**options))


def test_errors_are_told_by_what_was_changed() -> None:
    perturbed = Perturbed(
        ["one cat", "two dogs", "one cat"],
        ["two cats ", "two hens"],
        {"two cats": ("one cat", "number"), "two hens": ("two dogs", "entity")},
    )
    assert perturbed.names() == ["entity", "number", "misaligned"]
    # the reference, a perturbation of it, the same text in another line
    assert errors_by_kind(np.array([0, 4, 0]), perturbed) == {"entity": 1}
    # a perturbation of it, another reference, a perturbation of another one
    counts = errors_by_kind(np.array([3, 0, 4]), perturbed)
    assert counts == {"number": 1, "misaligned": 2}


def test_perturbed_figures_by_a_slow_loop_with_each_option(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    english, chinese = loose(130, seed=3)
    data = augmented(tmp_path, ParallelText(english, chinese, ["x"] * 130))
    folder = tmp_path / "flores200"
    read = read_perturbed(folder / "devtest_augmented", folder / "devtest", "eng_Latn", "devtest")
    seen = set()
    for options in CHOICES:
        expected = slow_kinds(toy_encoder, chinese[:30], read, **options)
        figures = measure(toy_encoder, data, **options).rows[0].figures
        assert figures == pytest.approx({**expected, "error": sum(expected.values())})
        seen.add(tuple(expected.values()))
    assert len(seen) == len(CHOICES)


def slow_kinds(
    encoder: SentenceEncoder,
    source: list[str],
    perturbed: Perturbed,
    margin: str = "ratio",
    neighborhood: int = 4,
    prompt: str = "",
) -> dict[str, float]:
    one, other = (encoder.encode(texts, prompt=prompt) for texts in (source, perturbed.texts))
    counts = errors_by_kind(np.array(slow_lines(one, other, margin, neighborhood)), perturbed)
    return {kind: counts[kind] / len(source) for kind in ("entity", "number", "misaligned")}


def test_languages_and_their_mean(
    toy_encoder: SentenceEncoder, tmp_path: Path, toy_pairs: ParallelText
) -> None:
    data = augmented(tmp_path, toy_pairs)
    folder = tmp_path / "flores200" / "devtest"
    (folder / "yue_Hant.devtest").write_bytes((folder / "zho_Hans.devtest").read_bytes())
    result = measure(toy_encoder, data)
    names = [row.name for row in result.rows]
    assert names == ["yue_Hant-eng_Latn", "zho_Hans-eng_Latn", "mean of 2"]
    one = measure(toy_encoder, data, language=["zho_Hans"])
    assert len(one.rows) == 1
    with pytest.raises(FileError, match=r"no fra_Latn.devtest"):
        measure(toy_encoder, data, language=["fra_Latn"])
