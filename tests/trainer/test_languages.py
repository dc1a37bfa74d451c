"""Text of three languages: which each sentence is in, how often it is visited, what is said."""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.trainer.data.batches import pass_order
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.checkpoints import METRICS_FILE
from xmine.trainer.run.fitting import fitted
from xmine.trainer.run.languages import LanguageTexts, tell_languages, unpaired_texts
from xmine.trainer.run.prepare import Split
from xmine.trainer.train import Trained, train

ENGLISH = [f"there was a lamp on the table of room {n}" for n in range(60)]
CHINESE = [f"第{n}间房的桌子上有一盏灯" for n in range(30)]
GERMAN = [f"auf dem Tisch im Zimmer {n} stand eine alte Lampe" for n in range(6)]
SMALL: dict[str, Any] = dict(dim=16, batch_size=32, held_out=50, threads=1, epochs=1)
SMALL |= dict(vocabulary_size=500, languages="en,zh,th")


def read(folder: Path, **files: list[str]) -> Corpus:
    """Write files of text and read them as `--texts`."""
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Corpus.read(texts=[str(folder / name) for name in files])


def test_three_languages_are_visited_by_their_shares_to_the_power_of_0_3() -> None:
    languages = np.array([0] * 900 + [1] * 90 + [2] * 10 + [-1] * 50)
    weights = LanguageTexts(["x"] * 1050, languages).sampling_weights(
        ("en", "zh", "de"), cast("Any", Log())
    )
    powers = [(count / 1000) ** 0.3 for count in (900, 90, 10)]
    for language, (count, power) in enumerate(zip((900, 90, 10), powers, strict=True)):
        expected = 1000 * power / sum(powers)  # of all sampling weights
        assert weights[languages == language] == pytest.approx(np.full(count, expected / count))
    assert (weights[languages == -1] == 1).all()
    # Drawn: in ten passes each language is met as often as that.
    met = np.concatenate([languages[pass_order(weights, 1, epoch)] for epoch in range(10)])
    for language, power in enumerate(powers):
        wanted = 10_000 * power / sum(powers)
        assert (met == language).sum() == pytest.approx(wanted, abs=4 * wanted**0.5)
    assert (met == -1).sum() == 500


class Log:
    """A run that keeps its remarks, without a folder."""

    def __init__(self) -> None:
        self.remarks: list[object] = []

    def log(self, **numbers: float | str) -> None:
        self.remarks.append(numbers["remark"])


@pytest.mark.parametrize("untold", [0, 10, 11])
def test_a_tenth_of_the_texts_may_be_in_any_language(untold: int) -> None:
    languages = np.array([-1] * untold + [0] * 70 + [2] * (30 - untold))
    log = Log()
    weights = LanguageTexts(["x"] * 100, languages).sampling_weights(
        ("en", "de", "zh"), cast("Any", log)
    )
    assert (np.unique(weights).size > 1) and weights[-1] > weights[-31 + untold]
    told = "11 of 100 texts may be in any of en, de, zh: these are visited once an epoch; "
    assert log.remarks == [told + "give one --texts FILE for each language"] * (untold > 10)


@pytest.mark.parametrize("codes", [("en", "zh", "de"), ("zh", "de", "en"), ("en", "xx", "yy")])
def test_as_many_files_as_languages_are_of_one_language_each(
    tmp_path: Path, codes: tuple[str, ...]
) -> None:
    corpus = read(tmp_path, a=ENGLISH, b=CHINESE, c=GERMAN)
    assert tell_languages(corpus, codes).languages.tolist() == [0] * 60 + [1] * 30 + [2] * 6


def test_files_that_look_like_one_language_are_not_taken_for_two(tmp_path: Path) -> None:
    corpus = read(tmp_path, a=ENGLISH[:50] + CHINESE[:3], b=ENGLISH[50:] + CHINESE[3:5], c=GERMAN)
    found = tell_languages(corpus, ("en", "zh", "th")).languages.tolist()
    assert found == [0] * 50 + [1] * 3 + [0] * 10 + [1] * 2 + [0] * 6  # GERMAN can be en alone


def test_in_one_file_each_text_is_told_by_itself(tmp_path: Path) -> None:
    corpus = read(tmp_path, mixed=[*ENGLISH, *CHINESE, *GERMAN])
    assert tell_languages(corpus, ("zh-CN", "eng_Latn", "th")).languages.tolist() == (
        [1] * 60 + [0] * 30 + [1] * 6
    )
    german = tell_languages(corpus, ("en", "zh", "de")).languages
    assert german.tolist() == [0] * 60 + [1] * 30 + [2] * 6


def test_a_run_is_not_resumed_with_other_files_of_the_same_texts(tmp_path: Path) -> None:
    whole = read(tmp_path, a=ENGLISH)
    parts = [read(tmp_path, b=ENGLISH[:at], c=ENGLISH[at:]) for at in (10, 20)]
    assert all(each.texts == whole.texts for each in parts)
    assert len({each.fingerprint() for each in (whole, *parts)}) == 3


def test_texts_that_are_held_out_of_the_pairs_are_left_out(toy_pairs: ParallelText) -> None:
    split = Split.of(toy_pairs, EmmaXOptions(held_out=100))
    held = [split.held_out.sources[3], split.held_out.targets[5]]
    texts = [ENGLISH[0], held[0], CHINESE[0], held[1], ENGLISH[1]]
    found = unpaired_texts(Corpus(pairs=toy_pairs, texts=texts), split, ("en", "zh"))
    assert found.texts == [ENGLISH[0], CHINESE[0], ENGLISH[1]]
    assert found.languages.tolist() == [0, 1, 0]


# The methods.


@pytest.mark.parametrize("options", [MsimcseOptions, EmmaXOptions, MocoOptions, TransaugOptions])
def test_a_third_language_needs_text_in_it(
    options: type[TrainingOptions], toy_pairs: ParallelText
) -> None:
    three = options(languages="en,zh,de", vocabulary_size=500)
    assert three.codes == ("en", "zh", "de")
    table = Triplets(["a"] * 30, ["b"] * 30, ["c"] * 30)
    for nothing in (Corpus(pairs=toy_pairs), Corpus(pairs=toy_pairs, triplets=(table,) * 2)):
        with pytest.raises(TrainingError, match="--languages en,zh,de: the pairs are in the first"):
            fitted(three, nothing)
    fitted(three, Corpus(pairs=toy_pairs, texts=GERMAN))
    fitted(three, Corpus(triplets=(table,) * 3))
    fitted(options(languages="de,en", vocabulary_size=500), Corpus(pairs=toy_pairs))


THAI = [f"มีโคมไฟอยู่บนโต๊ะในห้อง {n}" for n in range(40)]


def small(method: str, **changes: Any) -> TrainingOptions:
    if method == "msimcse":
        return MsimcseOptions(**SMALL | changes)
    return EmmaXOptions(**SMALL | {"queue_size": 64} | changes)


def trained(
    method: str, corpus: Corpus, folder: Path, options: TrainingOptions
) -> tuple[Trained, list[str]]:
    """Train, and give what the log has of languages."""
    made = train(method, corpus, options, folder)
    lines = map(json.loads, (folder / METRICS_FILE).read_text(encoding="utf-8").splitlines())
    remarks = [line["remark"] for line in lines if "remark" in line]
    return made, [each for each in remarks if "texts may be" in each]


@pytest.mark.parametrize("method", ["msimcse", "emma-x"])
def test_a_third_language_is_read_and_told(
    method: str, tmp_path: Path, toy_pairs: ParallelText
) -> None:
    corpus = read(
        tmp_path, en=[*toy_pairs.sources[:300]], zh=[*toy_pairs.targets[:200]], th=THAI * 2
    )
    corpus = Corpus(pairs=toy_pairs, texts=corpus.texts, text_files=corpus.text_files)
    options = small(method)
    made, remarks = trained(method, corpus, tmp_path / "encoder", options)
    assert remarks == [] and not any("texts may be" in each for each in made.remarks)
    card = (tmp_path / "encoder" / "README.md").read_text(encoding="utf-8")
    assert 'language:\n  - "en"\n  - "zh"\n  - "th"\n' in card
    assert "sentence encoder for en, zh and th" in card
    encoder = SentenceEncoder.load(tmp_path / "encoder")
    assert encoder.facts.languages == ("en", "zh", "th")
    assert encoder.encode(["โต๊ะ"]).any()  # its vocabulary has Thai
