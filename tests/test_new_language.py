"""The tutorial about a new language, typed: two books in Hungarian, unknown to the encoder."""

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.encoders.hub import EMBEDDED
from xmine.encoders.packs import PACKS
from xmine.pairs.io import read_pairs

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("XMINE_DATA") or ROOT.parent / "shared" / "data") / "eval"
PAGE = ROOT / "docs" / "tutorial" / "new-language.md"

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.long,
    pytest.mark.skipif(not (DATA / "align").is_dir(), reason="no books; name them with XMINE_DATA"),
]


def test_two_books_lead_to_pairs_of_an_unknown_language(tmp_path: Path) -> None:
    for name, each in (("first", "hu1984"), ("second", "steinbeck")):
        for side, code in (("src", "hu"), ("tgt", "en")):
            shutil.copy(DATA / "align" / each / f"all.{side}", tmp_path / f"{name}.{code}")
    book = DATA / "align" / "steinbeck"
    hungarian, english, gold = (
        (book / f"all.{side}").read_text("utf-8").split("\n") for side in ("src", "tgt", "gold")
    )
    single = [
        match.groups() for line in gold if (match := re.fullmatch(r"\[(\d+)\]:\[(\d+)\]", line))
    ]
    order = random.Random(1).sample(range(2000), 2000)
    texts = (
        [hungarian[int(x)] for x, _ in single[:2000]],
        [english[int(single[at][1])] for at in order],
    )
    for code, lines in zip(("hu", "en"), texts, strict=True):
        (tmp_path / f"crawl.{code}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    shell = f'xmine() {{ "{sys.executable}" -m xmine "$@"; }}\nset -e\n' + "".join(blocks)
    plain = shutil.copytree(EMBEDDED, tmp_path / "plain", ignore=shutil.ignore_patterns(PACKS))
    how: Any = {"env": {**os.environ, "XMINE_MODEL": str(plain)}, "cwd": tmp_path, "text": True}
    ended = subprocess.run(["bash", "-c", shell], capture_output=True, **how)
    assert ended.returncode == 0, ended.stderr[-2000:]
    right = {(row + 1, order.index(row) + 1) for row in range(2000)}
    figures = []
    for run in ("run", "again"):
        found = {(pair.source_line, pair.target_line) for pair in read_pairs(tmp_path / run)}
        figures.append((len(found & right) / len(found), len(found & right) / len(right)))
    assert np.all(np.array(figures) >= [(0.93, 0.5), (0.97, 0.65)])  # .96 and .57; .99 and .70
