"""pairs: what is learned and held out, the cut and the whole."""

from pathlib import Path

import numpy as np
import pytest

from tests.toys.sentence_pairs import pawsx_rows, with_ids, words, write, xnli_rows
from tests.toys.sentences import english_word
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import PairsOptions
from xmine.evaluation.result import Result
from xmine.evaluation.transfer.sentence_pairs import FOLDS, SETS, best_cut, evaluate_pairs, tasks_of

PAWSX, XNLI = SETS


def measure(encoder: SentenceEncoder, data: Path | None, *task: str) -> Result:
    return evaluate_pairs(encoder, DataFolder(data), PairsOptions(task=list(task)))


def test_the_best_cut_is_the_one_that_trying_all_finds() -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        values = random.integers(0, 6, 12) / 5
        truth = random.random(12) < 0.5
        cuts = [np.inf, *values, -np.inf]
        best = max(np.mean((values >= cut) == truth) for cut in cuts)
        cut, accuracy = best_cut(values, truth)
        assert accuracy == pytest.approx(best)
        assert np.mean((values >= cut) == truth) == pytest.approx(best)


def test_of_equally_good_cuts_the_highest_is_taken() -> None:
    values, truth = np.array([0.1, 0.9, 0.5, 0.3]), np.array([False, True, False, True])
    np.testing.assert_allclose(best_cut(values, truth), (0.7, 0.75))
    assert best_cut(values, np.ones(4, bool)) == (-np.inf, 1)
    assert best_cut(values, np.zeros(4, bool)) == (np.inf, 1)


def test_no_item_translation_or_sentence_is_learned_and_held_out(tmp_path: Path) -> None:
    english, chinese = pawsx_rows("en", 40), pawsx_rows("zh", 40)
    for at in range(0, 40, 4):  # three pairs hang together: first to first, second to first
        first, second, _ = english[at].split("\t")
        english[at + 1] = f"{first}\tother {at}\t1"
        english[at + 2] = f"{second}\tthird {at}\t0"
    chinese[7] = "NS\tNS\t0"
    write(tmp_path / "pawsx/dev-en.tsv", english)
    write(tmp_path / "pawsx/dev-zh.tsv", chinese)
    tasks, split = tasks_of(PAWSX, DataFolder(tmp_path))
    assert split == "dev, 5-fold cross-validation by item"
    assert len(tasks) == FOLDS
    translations = dict(zip((row.split("\t")[0] for row in chinese), english, strict=True))
    for task in tasks:
        assert task.dev is None
        learned = {text for texts in task.train.texts for text in texts}
        assert learned.isdisjoint(text for texts in task.tests["en"].texts for text in texts)
        measured = [translations[first] for first, _ in task.tests["zh"].texts]
        assert learned.isdisjoint(row.split("\t")[0] for row in measured)
    counts = {x: sum(len(task.tests[x].texts) for task in tasks) for x in ("en", "zh")}
    assert counts == {"en": 40, "zh": 39}


def test_train_and_test_are_used_where_they_are(tmp_path: Path) -> None:
    folder, rows = tmp_path / "x-final", pawsx_rows("en", 10)

    def sizes() -> tuple[str, int, int, int]:
        [task], split = tasks_of(PAWSX, DataFolder(tmp_path))
        tuned = len(task.dev.texts) if task.dev else 0
        return split, len(task.train.texts), tuned, len(task.tests["en"].texts)

    write(folder / "en/test_2k.tsv", with_ids(rows))
    with pytest.raises(MissingData, match=r"dev-en.tsv"):
        sizes()
    write(folder / "en/dev_2k.tsv", with_ids(rows[:8]))
    assert sizes() == ("test, learned from English dev", 8, 0, 10)
    write(folder / "en/train.tsv", with_ids(rows[:6]))
    assert sizes() == ("test, learned from English train, tuned on English dev", 6, 8, 10)
    (folder / "en/test_2k.tsv").unlink()
    assert sizes() == ("dev, learned from English train", 6, 0, 8)


def test_pairs_that_cannot_be_cut_into_parts_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "pawsx/dev-en.tsv", pawsx_rows("en", 4))
    with pytest.raises(FileError, match=r"PAWS-X, English dev: 2 examples of the rarest class"):
        tasks_of(PAWSX, DataFolder(tmp_path))
    same = [f"The same.\tother {at}\t{at % 2}" for at in range(20)]
    write(tmp_path / "pawsx/dev-en.tsv", same)
    with pytest.raises(FileError, match=r"English dev: 1 groups of examples that share no text"):
        tasks_of(PAWSX, DataFolder(tmp_path))
    write(tmp_path / "xnli/dev-zh.tsv", xnli_rows("zh", 9))
    with pytest.raises(FileError, match="XNLI, dev: no English file; there are zh"):
        tasks_of(XNLI, DataFolder(tmp_path))


@pytest.mark.slow
def test_pairs_of_one_meaning_are_told_from_others(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    for language in ("en", "zh"):
        write(tmp_path / f"pawsx/dev-{language}.tsv", pawsx_rows(language, 120))
        write(tmp_path / f"xnli/dev-{language}.tsv", xnli_rows(language, 120))
    write(tmp_path / "pawsx/dev-zh.tsv", ["NS\tNS\t0", *pawsx_rows("zh", 120)[1:]])
    result = measure(toy_encoder, tmp_path)
    names = [row.name for row in result.rows]
    means = ["PAWS-X, mean of 2", "XNLI, mean of 2"]
    assert names == ["PAWS-X en", "PAWS-X zh", "XNLI en", "XNLI zh", *means]
    for row in result.rows[:2]:
        assert row.figures["ap"] == row.figures["oracle"] == pytest.approx(1)
        assert row.figures["cosine"] >= 0.97
    for row in result.rows[2:4]:
        assert row.figures["cosine"] >= 0.9
        assert row.figures["cosine"] <= row.figures["oracle"]
    assert [row.items for row in result.rows] == [120, 119, 120, 120, 239, 240]
    assert result.headline == ("PAWS-X, mean of 2", "head")
    notes = " ".join(result.notes)
    assert "left out, without a translation: 1 of zh" in notes
    assert "XNLI, English, without any knowledge: AP 33.3, cos acc 66.7, head acc 33.3." in notes


def test_a_head_learns_from_train_what_cosine_cannot(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    """The class lies in the words of the first sentence: cosine knows nothing of it."""

    def rows(count: int, seed: int) -> list[str]:
        random = np.random.default_rng(seed)
        made = []
        for at in range(count):
            first = " ".join(
                english_word(int(x) + 60 * (at % 2)) for x in random.integers(0, 60, 8)
            )
            second = " ".join(english_word(int(x)) for x in random.integers(0, 120, 8))
            made.append(f"{first}\t{second}\t{at % 2}")
        return made

    for seed, (split, count) in enumerate({"train": 300, "dev_2k": 60, "test_2k": 100}.items()):
        write(tmp_path / f"x-final/en/{split}.tsv", with_ids(rows(count, seed)))
    (row, _) = measure(toy_encoder, tmp_path, "pawsx").rows
    assert row.figures["head"] >= 0.8
    assert row.figures["cosine"] <= 0.65


def test_what_is_asked_for_has_to_be_there(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.evaluation.transfer.frozen.STRENGTHS", (1.0,))  # to be quick
    for folder in (tmp_path, None):
        with pytest.raises(MissingData, match=r"expected pairs: pawsx/dev-en.tsv"):
            measure(toy_encoder, folder)
    write(tmp_path / "dev-en.tsv", pawsx_rows("en", 40))
    assert measure(toy_encoder, tmp_path, "pawsx").rows[0].items == 40
    with pytest.raises(OptionError, match="--task is 'mrpc'"):
        measure(toy_encoder, tmp_path, "mrpc")
    (tmp_path / "dev-en.tsv").unlink()
    with pytest.raises(MissingData, match="XNLI"):
        measure(toy_encoder, tmp_path, "xnli")


def test_the_cut_comes_from_what_is_learned(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    """Learned: the same words or half of them. Measured: half of them, a paraphrase, or none."""

    def rows(kinds: tuple[int, int], seed: int) -> list[str]:
        found = [(words(seed + at, "en", kinds[at % 2]), at % 2) for at in range(60)]
        return [f"{first}\t{second}\t{label}" for (first, second), label in found]

    write(tmp_path / "x-final/en/dev_2k.tsv", with_ids(rows((1, 0), 0)))
    write(tmp_path / "x-final/en/test_2k.tsv", with_ids(rows((2, 1), 500)))
    (row, _) = measure(toy_encoder, tmp_path).rows
    assert row.figures["oracle"] > 0.9
    assert row.figures["cosine"] < 0.8


def test_the_same_words_in_another_order_are_not_told_apart_by_rounding(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.evaluation.transfer.frozen.STRENGTHS", (1.0,))  # to be quick
    labels = np.random.default_rng(3).integers(0, 2, 200)
    pairs = [words(at, "en", 0) for at in range(len(labels))]
    rows = [
        f"{first}\t{second}\t{label}" for (first, second), label in zip(pairs, labels, strict=True)
    ]
    write(tmp_path / "pawsx/dev-en.tsv", rows)
    (row, _) = measure(toy_encoder, tmp_path, "pawsx").rows
    share = float(labels.mean())
    assert row.figures["ap"] == pytest.approx(share, abs=1e-9)  # as of one value for all
    assert row.figures["oracle"] == max(share, 1 - share)


def test_what_is_wrong_with_one_does_not_stop_the_other(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.evaluation.transfer.frozen.STRENGTHS", (1.0,))  # to be quick
    write(tmp_path / "pawsx/dev-en.tsv", pawsx_rows("en", 60))
    write(tmp_path / "xnli/dev-en.tsv", xnli_rows("en", 12))
    result = measure(toy_encoder, tmp_path)
    assert [row.name for row in result.rows] == ["PAWS-X en", "PAWS-X, mean of 1"]
    assert list(result.settings["splits"]) == ["pawsx"]  # type: ignore[call-overload]
    [note] = [note for note in result.notes if "not measured" in note]
    assert note.startswith("XNLI was not measured: ") and "English dev: 4 examples" in note
    assert result.failed == ["XNLI"] and Result.from_json(result.as_json()).failed == ["XNLI"]
    for task in (["xnli"], ["pawsx", "xnli"]):
        with pytest.raises(FileError, match="XNLI, English dev: 4 examples of the rarest class"):
            measure(toy_encoder, tmp_path, *task)


def test_pairs_of_one_class_cannot_be_learned(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    test, dev = tmp_path / "x-final/en/test_2k.tsv", tmp_path / "x-final/en/dev_2k.tsv"
    write(test, with_ids(pawsx_rows("en", 20)))
    write(dev, with_ids(pawsx_rows("en", 60)[1::2]))
    with pytest.raises(FileError, match="English dev: the answer of all 30 examples is paraphrase"):
        measure(toy_encoder, tmp_path)
    write(tmp_path / "x-final/en/train.tsv", with_ids(pawsx_rows("en", 60, 100)))
    with pytest.raises(FileError, match="English dev: all pairs are of one class"):
        measure(toy_encoder, tmp_path)
