"""A first row that names columns in words of others is left out, by number as by name."""

import warnings
from pathlib import Path

import pytest

from xmine.pairs.io import read_pairs
from xmine.text.inputs import read_texts

NAMES = (
    "en,zh English,German source,target id,English,German,notes_of_mine sentence1,sentence2 "
    "en_text,de_text eng_Latn,deu_Latn en-US,zh-CN SRC,TGT Source(English),Target(German) "
    "中文,英文 Quelle,Ziel Deutsch,Englisch score,src,trg premise,hypothesis"
).split()
PAIRS = (
    "German,Deutsch Text,Texte English,Englisch Yes.,Ja. Hello,Hallo no,nein Language,Sprache "
    "Source,Quelle 1,2 File,Datei Polish,polieren Chinese,中文 No,No Translation,Übersetzung "
    "It_is,Es_ist She_keeps_bees,Sie_hält_Bienen To_be,Sein English_is_old.,Englisch_ist_alt."
).split()


@pytest.mark.parametrize("first", [*NAMES, *PAIRS])
def test_a_first_row_of_names_is_no_pair_and_is_told(tmp_path: Path, first: str) -> None:
    cells = first.replace("_", " " if first in PAIRS else "_").split(",")
    rows = [cells, ["One more."] * len(cells), ["Two more."] * len(cells)]
    for name, between in (("a.csv", ","), ("a.tsv", "\t"), ("a", "\t")):
        (tmp_path / name).write_text("".join(between.join(row) + "\n" for row in rows))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            texts = read_texts(f"{tmp_path}/{name}:2")
            pairs = [] if name == "a.csv" else list(read_pairs(f"{tmp_path}/{name}:1,2"))
        assert texts == ["" if first in NAMES else cells[1], "One more.", "Two more."]
        assert not pairs or len(pairs) == 2 + (first in PAIRS)
        is_ours = first == "source,target" and name != "a.csv"
        assert len(told) == (0 if is_ours or first in PAIRS else 1 + bool(pairs))
        assert all(repr(cells[0]) in str(each.message) for each in told)
