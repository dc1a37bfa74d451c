"""Known pairs: what a file of them may say, and what follows for pairs that were mined."""

from pathlib import Path

import numpy as np
import pytest

from xmine.errors import FileError, XmineWarning
from xmine.pairs.judgements import hash_of
from xmine.pairs.known import (
    NOTHING_KNOWN,
    NOTHING_SETTLED,
    LabelledPair,
    LabelledPairs,
    SettledPairs,
    agreement_with_seeds,
    labels_of,
    read_known,
)
from xmine.text.sentences import sentence_table


def labels(known: list[LabelledPair], pairs: list[tuple[int, int]]) -> list[int]:
    lines = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = labels_of(known, lines[:, 0], lines[:, 1])
    assert found.dtype == np.int8
    return found.tolist()


def test_a_file_has_two_numbers_a_line_and_perhaps_a_judgement(tmp_path: Path) -> None:
    file = tmp_path / "seeds.tsv"
    file.write_bytes(b"\xef\xbb\xbf3\t1\r\n1\t20\t1\n4\t4\t0\n")
    known = read_known(file)
    assert known.name == str(file)
    assert known.pairs == [
        LabelledPair(3, 1),
        LabelledPair(1, 20, True),
        LabelledPair(4, 4, right=False),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "": "the file is empty",
        "\n": ":1: expected two line numbers with a tab between",
        "1\t1\n\n2\t2\n": ":2: expected two line numbers with a tab between",
        "1\t1.0\n": ":1: expected two line numbers with a tab between",
        "1\t2\t1\t1\n": ":1: expected two line numbers with a tab between",
        "1\t2\t1\n1\t3\t2\n": ":2: the third column is '2', not 1 or 0",
        f"1\t1\n1\t{10**18}\n": ":2: expected two line numbers with a tab between",
        "1\t2\n3\t3\n1\t2\t0\n": ":3: judged right and wrong, the other way in line 1",
    }.items(),
)
def test_other_lines_are_refused_by_number(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "seeds.tsv"
    file.write_text(text)
    with pytest.raises(FileError) as error:
        read_known(file)
    assert str(error.value.message).startswith(str(file)) and message in error.value.message


def test_lines_that_the_files_do_not_have_are_refused(tmp_path: Path) -> None:
    source = sentence_table("en.txt", ["a", "b", "", "a"])
    target = sentence_table("zh.txt", ["x", "y"])
    assert NOTHING_KNOWN.resolved(source, target) == NOTHING_KNOWN
    for pair, message in {
        (5, 1): "seeds:2: line 5 of en.txt, which has 4",
        (0, 1): "seeds:2: line 0 of en.txt, which has 4",
        (1, 3): "seeds:2: line 3 of zh.txt, which has 2",
        (1, 0): "seeds:2: line 0 of zh.txt, which has 2",
        (10**18 - 1, 1): f"seeds:2: line {10**18 - 1} of en.txt, which has 4",
    }.items():
        for right in (True, False):
            known = LabelledPairs("seeds", [LabelledPair(1, 1), LabelledPair(*pair, right)])
            with pytest.raises(FileError) as error:
                known.resolved(source, target)
            assert error.value.message == message
    # The longest number that may be read is one that a table can be asked for.
    file = tmp_path / "seeds.tsv"
    file.write_text(f"1\t{10**18 - 1}\n")
    with pytest.raises(FileError, match=f":1: line {10**18 - 1} of zh.txt"):
        read_known(file).resolved(source, target)


def test_a_repeated_line_is_named_by_the_one_that_stands_for_it() -> None:
    source = sentence_table("en.txt", ["a", "b", "", "A ", "c", "a"])
    target = sentence_table("zh.txt", ["x", "y", "Y"])
    known = LabelledPairs(
        "seeds",
        [
            LabelledPair(4, 2),
            LabelledPair(5, 3, right=False),
            LabelledPair(6, 1),
            LabelledPair(3, 1),
        ],
    )
    assert known.resolved(source, target) == LabelledPairs(
        "seeds",
        [
            LabelledPair(1, 2),
            LabelledPair(5, 2, right=False),
            LabelledPair(1, 1),
            LabelledPair(3, 1),
        ],
    )
    plain = [sentence_table("", ["a", "b", "", "A ", "c", "a"], dedup=False) for _ in range(2)]
    assert known.resolved(*plain) == known
    cut = [sentence_table("", ["a"] * 6, segment=True) for _ in range(2)]
    assert known.resolved(*cut) == known


def test_a_pair_is_right_wrong_or_unknown() -> None:
    known = [LabelledPair(1, 10), LabelledPair(2, 20), LabelledPair(3, 30, right=False)]
    pairs = [(1, 10), (2, 20), (3, 30), (1, 20), (1, 40), (4, 10), (3, 31), (4, 30), (5, 50)]
    assert labels(known, pairs) == [1, 1, 0, 0, 0, 0, -1, -1, -1]
    assert labels([], pairs) == [-1] * len(pairs)
    assert labels(known, []) == labels([], []) == []


def test_labels_agree_with_a_slow_walk() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        known = [
            LabelledPair(int(source), int(target), bool(right))
            for source, target, right in zip(
                rng.integers(1, 9, 6), rng.integers(1, 9, 6), rng.random(6) < 0.5, strict=True
            )
        ]
        pairs = list({(int(x), int(y)) for x, y in rng.integers(1, 9, (20, 2))})
        expected = []
        for source, target in pairs:
            label = -1
            for each in known:
                if not each.right and (each.source, each.target) == (source, target):
                    label = 0
                if each.right and (each.source == source) != (each.target == target):
                    label = 0
            if LabelledPair(source, target) in known:
                label = 1
            expected.append(label)
        assert labels(known, pairs) == expected


def test_agreement_counts_judged_pairs_alone() -> None:
    known = [
        LabelledPair(1, 10),
        LabelledPair(2, 20),
        LabelledPair(2, 20),
        LabelledPair(3, 30, right=False),
    ]
    found = agreement_with_seeds(known, np.array([1, 0, -1, -1, -1, 0], dtype=np.int8))
    assert (found.mined, found.gold, found.right) == (3, 2, 1)
    assert (found.precision, found.recall) == (1 / 3, 1 / 2)
    assert found.f1 == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))


JUDGED = (
    "# judgements of xmine, version 1: source_line target_line ...\n"
    "3\t4\t\t\taccept\tann\t01234567\t2026-01-02T03:04:05Z\n"
    "1\t9\t\t\taccept\tann\t01234567\t2026-01-02T03:04:06Z\n"
    "5\t5\t\t\tunsure\tann\t01234567\t2026-01-02T03:04:06Z\n"
    "6\t6\t\t\taccept\tann\t01234567\t2026-01-02T03:04:06Z\n"
    "6\t6\t\t\tnone\tann\t01234567\t2026-01-02T03:04:07Z\n"
    "1\t9\t\t\treject\tann\t01234567\t2026-01-02T03:04:08Z\n"
    "7\t7\t\t\tacc"
)


def test_judgements_are_known_pairs_as_they_stand_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "judgements.tsv"
    file.write_text(JUDGED)
    with pytest.warns(XmineWarning, match="judgements.tsv:8: not a whole line of a verdict"):
        known = read_known(file)
    assert known.pairs == [LabelledPair(1, 9, right=False), LabelledPair(3, 4)]
    assert known.numbers == [7, 2] and known.texts == ["01234567"] * 2
    # Where as many accept as reject, nobody knows, until one decides.
    lines = JUDGED.splitlines()[:-1]
    lines.append(lines[1].replace("accept\tann", "reject\tbob"))
    file.write_text("\n".join(lines))
    assert read_known(file).pairs == [LabelledPair(1, 9, right=False)]
    decided = lines[1].replace("ann\t01234567", 'eve\t01234567\t{"adjudicates": true}')
    file.write_text("\n".join([*lines, lines[-1].replace("bob", "cem"), decided]))
    assert read_known(file).pairs[1] == LabelledPair(3, 4)


@pytest.mark.filterwarnings("ignore:.*not a whole line")
def test_judged_pairs_and_runs_stand_for_their_judgements(tmp_path: Path) -> None:
    pairs, run = tmp_path / "pairs.tsv", tmp_path / "run"
    pairs.write_text("0.9\thello\tworld\n")
    (tmp_path / "pairs.tsv.judgements.tsv").write_text(JUDGED)
    assert len(read_known(pairs).pairs) == 2
    run.mkdir()
    (run / "run.toml").write_text("")
    with pytest.raises(FileError, match="run: no pair of it has been judged"):
        read_known(run)
    (run / "judgements.tsv").write_text(JUDGED)
    assert len(read_known(run).pairs) == 2


@pytest.mark.filterwarnings("ignore:.*not a whole line")
@pytest.mark.parametrize(
    ("change", "message"),
    {
        ("version 1", "version 3"): "judgements of version 3, not 2",
        ("\taccept", "\tunsure"): "no pair is accepted or rejected",
        ("3\t4\t\t\t", "3\t4\t0\t8\t"): ":2: a sentence of a line was judged, not the line",
        ("3\t4\t", "3\t\t"): ":2: a pair of a file without lines was judged",
    }.items(),
)
def test_judgements_that_cannot_be_known_pairs_are_refused(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    file = tmp_path / "judgements.tsv"
    file.write_text(JUDGED.replace("reject", "unsure").replace(*change))
    with pytest.raises(FileError, match=message):
        read_known(file)


def test_judged_pairs_are_known_while_their_lines_have_the_texts_that_were_judged() -> None:
    source = sentence_table("en.txt", ["a", "b", "", "A ", "c"])
    target = sentence_table("zh.txt", ["x", "y", "z"])
    pairs = [
        LabelledPair(1, 1),
        LabelledPair(2, 2),
        LabelledPair(2, 2, right=False),
        LabelledPair(4, 3),
    ]
    pairs += [LabelledPair(3, 1), LabelledPair(9, 1), LabelledPair(5, 1, right=False)]
    judged = ["ax", "bw", "by", "az", "ax", "ax", "cx"]  # line 4 is folded into line 1
    texts = [hash_of(*each) for each in judged]
    known = LabelledPairs("judged.tsv", pairs, range(2, 9), texts)
    found = known.resolved(source, target)
    expected = [(1, 1, True), (2, 2, False), (1, 3, True), (5, 1, False)]
    assert found.pairs == [LabelledPair(*each) for each in expected]
    assert found.left_out == 3
    assert found.warning == (
        "judged.tsv: 3 judged pairs are left out: the lines have other texts now"
    )
    with pytest.raises(FileError, match="none of the 7 judged pairs is in zh"):
        known.resolved(target, source)


@pytest.mark.parametrize("seed", range(20))
def test_settled_pairs_are_looked_up_as_in_a_dictionary(seed: int) -> None:
    random = np.random.default_rng(seed)
    lines = np.unique(random.integers(1, 12, (int(random.integers(0, 40)), 2)), axis=0)
    lines = lines[random.permutation(len(lines))]
    settled = SettledPairs(lines, random.random(len(lines)))
    places = map(tuple, lines.tolist())
    twin = dict(zip(places, settled.probs.tolist(), strict=True))
    asked = random.integers(1, 14, (int(random.integers(0, 60)), 2))
    found = settled.probs_of(asked[:, 0], asked[:, 1])
    expected = np.array([twin.get((x, y), np.nan) for x, y in asked.tolist()])
    assert np.array_equal(found, expected, equal_nan=True) and found.dtype == np.float64


def test_where_nothing_is_settled_nothing_is_found() -> None:
    some = np.arange(1, 4)
    assert np.isnan(NOTHING_SETTLED.probs_of(some, some)).all()
    assert len(SettledPairs(np.array([[1, 1]]), np.ones(1)).probs_of(some[:0], some[:0])) == 0
