"""Readers of scored pairs: each format of STS, STS-B and SICK, and wrong files."""

from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.evaluation.readers.scored_pairs import (
    read_score_apart,
    read_score_first,
    read_sick,
    read_stsb,
)


class TestReaders:
    def test_a_line_without_score_does_not_count(self, tmp_path: Path) -> None:
        path = tmp_path / "x.test.tsv"
        path.write_text('1.5\ta "b\tc\n\td\te\n5\tf\tg\n', encoding="utf-8")
        pairs = read_score_first(path)
        assert (pairs.first, pairs.second) == (['a "b', "f"], ["c", "g"])
        assert pairs.gold.tolist() == [1.5, 5]

    def test_scores_in_a_file_of_their_own(self, tmp_path: Path) -> None:
        texts, scores = tmp_path / "input", tmp_path / "gs"
        texts.write_text("a\tb\tfrom here\tfrom there\nc\td\ne\tf\n")
        scores.write_text("2.4\n\n0\n")
        pairs = read_score_apart(texts, scores)
        assert (pairs.first, pairs.gold.tolist()) == (["a", "e"], [2.4, 0])
        scores.write_text("2.4\n1\n")
        with pytest.raises(FileError, match=r"input has 3 lines and .*gs 2"):
            read_score_apart(texts, scores)
        assert read_score_apart(texts, scores, fewer_scores=True).second == ["b", "d"]
        scores.write_text("1\n1\n1\n1\n")
        with pytest.raises(FileError, match=r"input has 3 lines and .*gs 4"):
            read_score_apart(texts, scores, fewer_scores=True)

    def test_sick(self, tmp_path: Path) -> None:
        head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
        path = tmp_path / "SICK_test_annotated.txt"
        path.write_text(head + "7\tA dog runs\tNo dog runs\t3.7\tCONTRADICTION\n")
        pairs = read_sick(path)
        assert (pairs.first, pairs.second) == (["A dog runs"], ["No dog runs"])
        path.write_text(head.replace("relatedness_score", "score") + "7\ta\tb\t1\tNEUTRAL\n")
        with pytest.raises(FileError, match=r":1: the head has no column relatedness_score"):
            read_sick(path)
        path.write_text(head)
        with pytest.raises(FileError, match="no pair has a score"):
            read_sick(path)

    def test_stsb_with_quotes(self, tmp_path: Path) -> None:
        path = tmp_path / "stsb-en-test.csv"
        path.write_text('"One, two","He said ""no"".",2.5\nThree,Four,5.0\n')
        pairs = read_stsb(path)
        assert pairs.first == ["One, two", "Three"]
        assert pairs.second == ['He said "no".', "Four"]
        for text, message in (
            ("a,b\n", ":1: 2 columns"),
            ("a,b,c,1\n", ":1: 4 columns"),
            ('a,b,1\n"c"d,e,1\n', ":2: not CSV: "),
            ("a,b,x\n", ":1: 'x' is no score from 0 to 5"),
            ("a,b,5.5\n", ":1: the score is 5.5"),
            ("a,b,-1\n", ":1: the score is -1"),
            ("a,b,nan\n", ":1: 'nan' is no score"),
            ("a,b,\n", ":1: '' is no score"),
        ):
            path.write_text(text)
            with pytest.raises(FileError, match=message):
                read_stsb(path)

    def test_stsb_with_tabs(self, tmp_path: Path) -> None:
        path = tmp_path / "sts-test.csv"
        line = 'main-captions\tMSRvid\t2012test\t24\t2.5\tHe said "no.\tShe did\n'
        path.write_text(line + line.strip() + "\tlicence\n")
        pairs = read_score_first(path, (5, 6, 4))
        assert (pairs.first, pairs.second) == (['He said "no.'] * 2, ["She did"] * 2)
        path.write_text("a\tb\n")
        with pytest.raises(FileError, match=":1: 2 columns; expected 7"):
            read_score_first(path, (5, 6, 4))

    @pytest.mark.parametrize("text", ["\ta\tb\n", "\n"])
    def test_an_empty_gold_file(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "x").write_text(text)
        with pytest.raises(FileError, match=r"no pair has a score|1 column"):
            read_score_first(tmp_path / "x")
