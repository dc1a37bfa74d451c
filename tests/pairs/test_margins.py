"""The margin as the last column of every format; without margins the bytes of earlier versions."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import xmine
from xmine.errors import FileError
from xmine.pairs.io import Pairs, read_pairs, write_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair

# Numbers that four decimals, and float32, hold exactly.
BARE = [
    Pair("The kettle sings.", "水壶在唱。", 2.5, 12, 7, 0.75, prob=0.875, flags=""),
    Pair("Nobody feeds it.", "没人喂。", -1.25, 3, 15, 0.5, prob=0.125, flags="hub,number"),
    Pair("Bring rope & tape.", "带上绳子和胶带。", 0.5, 8, 9, 0.625, prob=0.5, flags=""),
]
MARGINS = (1.25, 0.9375, None)
PAIRS = [pair._replace(margin=each) for pair, each in zip(BARE, MARGINS, strict=True)]
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
    f'<header creationtool="xmine" creationtoolversion="{xmine.__version__}" segtype="sentence" '
    'o-tmf="xmine" adminlang="en" srclang="en" datatype="plaintext"/>\n<body>\n'
)
TEXTS = (
    '<tuv xml:lang="en"><seg>Nobody feeds it.</seg></tuv>\n'
    '<tuv xml:lang="zh"><seg>没人喂。</seg></tuv>\n</tu>\n</body>\n</tmx>\n'
)
PROPERTIES = (
    '<tu>\n<prop type="score">-1.2500</prop>\n<prop type="x-cosine">0.5000</prop>\n'
    '<prop type="x-source-line">3</prop>\n<prop type="x-target-line">15</prop>\n'
    '<prop type="x-prob">0.1250</prop>\n<prop type="x-flags">hub,number</prop>\n'
)
OBJECT = (
    '{"score": -1.25, "source": "Nobody feeds it.", "target": "没人喂。", "source_line": 3, '
    '"target_line": 15, "cosine": 0.5, "prob": 0.125, "flags": "hub,number"'
)
ROW = "-1.2500\tNobody feeds it.\t没人喂。\t3\t15\t0.5000\t0.1250\thub,number"
NAMES = "score\tsource\ttarget\tsource_line\ttarget_line\tcosine\tprob\tflags"
# The file of the second pair: without a margin, and with one.
FILES = {
    "p.tsv": (f"{NAMES}\n{ROW}\n", f"{NAMES}\tmargin\n{ROW}\t0.9375\n"),
    "p.jsonl": (f"{OBJECT}}}\n", f'{OBJECT}, "margin": 0.9375}}\n'),
    "p.tmx": (
        f"{HEAD}{PROPERTIES}{TEXTS}",
        f'{HEAD}{PROPERTIES}<prop type="x-margin">0.9375</prop>\n{TEXTS}',
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_without_margins_is_that_of_earlier_versions(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    for pair, text in zip((BARE[1], PAIRS[1]), FILES[kind], strict=True):
        write_pairs([pair], str(path), ("en", "zh"))
        assert path.read_text(encoding="utf-8") == text
        assert list(read_pairs(path)) == [pair]


def test_a_margin_of_another_type_is_named_or_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pl.DataFrame({"source": ["a"], "target": ["b"], "margin": ["1.1"]}).write_parquet(path)
    with pytest.raises(FileError, match="the column 'margin' is string, not numbers"):
        list(read_pairs(path))
    memory = tmp_path / "p.tmx"  # a property of another tool may have the same name
    write_pairs([PAIRS[0]], str(memory), ("en", "zh"))
    memory.write_text(memory.read_text().replace(">1.2500<", ">wide<"))
    losses = Losses()
    assert list(read_pairs(memory, losses)) == [BARE[0]]
    assert losses.notes() == ["properties of 1 pair not kept"]


def test_mined_pairs_have_margins_where_they_are_given() -> None:
    lines = np.array([1, 2])
    scores, cosines, margins = (np.array(x, np.float32) for x in ([2, -1], [0.75, 0.5], [1.25, 1]))
    texts = {"source": ["a", "b"], "target": ["c", "d"]}
    bare = {"score": scores, **texts, "source_line": lines, "target_line": lines, "cosine": cosines}
    assert [pair.margin for pair in Pairs(bare)] == [None, None]
    pairs = Pairs({**bare, "margin": margins})
    assert [pair.margin for pair in pairs.rows()] == [1.25, 1.0]
    assert pairs.to_polars().columns[-1] == "margin"
    assert pairs.to_polars()["margin"].to_list() == [1.25, 1.0]
