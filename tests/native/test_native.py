"""The kernels in C: which are used, what they refuse, and means of tokens against numpy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xmine import native
from xmine.encoders.table import Table, mean_of_rows

ROOT = Path(__file__).parents[2]
built = pytest.mark.skipif(native.kernels is None, reason=native.used)


@built
@pytest.mark.parametrize("dim", [1, 3, 16, 33, 320, 512, 513, 1025])
def test_every_instruction_set_averages_as_numpy_does(dim: int) -> None:
    random = np.random.default_rng(dim)
    table = Table.rounded(random.standard_normal((50, dim)).astype(np.float32))
    lengths = np.array([0, 1, 2, 7, 0, 300, 1])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids = random.integers(0, 50, starts[-1]).astype(np.int32)
    twin = mean_of_rows(table.vectors(), ids, starts)
    by_hand = [np.mean(table.vectors(ids[a:b]).astype(float), axis=0) for a, b in ((1, 3), (3, 10))]
    assert np.allclose(twin[2:4], by_hand, atol=1e-6)
    for name in native.kernels.sets():
        native.kernels.choose(name)
        found = np.empty_like(twin)
        native.kernels.means(table.rows, table.factors, dim, ids, starts, found)
        assert found.tobytes() == twin.tobytes(), name
    native.kernels.choose(native.kernels.sets()[0])


@built
@pytest.mark.parametrize(
    ("ids", "starts", "texts"),
    [([0, 9], [0, 2], 1), ([-1], [0, 1], 1), ([0], [0, 2], 1), ([0], [1, 0], 1), ([0], [0, 1], 2)],
)
def test_what_lies_outside_is_refused(ids: list[int], starts: list[int], texts: int) -> None:
    rows, factors = np.ones((5, 4), np.int8), np.ones(5, np.float32)
    places = np.array(ids, np.int32), np.array(starts)
    with pytest.raises(ValueError, match="means"):
        native.kernels.means(rows, factors, 4, *places, np.empty((texts, 4), np.float32))


def test_a_variable_chooses() -> None:
    for name in ("0", "abacus"):
        chosen = f"numpy alone: XMINE_NATIVE={name}"
        assert native._chosen(name) == (None, native.used if "not built" in native.used else chosen)
    if native.kernels is not None:
        assert native._chosen("plain")[1] == "kernels in C (plain)"
        assert native._chosen("")[1] == f"kernels in C ({native.kernels.sets()[0]})"


@pytest.mark.slow
def test_without_a_compiler_the_build_goes_on(tmp_path: Path) -> None:
    for name in "setup.py pyproject.toml README.md LICENSE NOTICE xmine/version.py".split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "xmine" / "native", tmp_path / "xmine" / "native")
    for built in (tmp_path / "xmine" / "native").glob("_kernels*"):
        built.unlink()
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    env = os.environ | {"CC": "/no/compiler"}
    ran = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "No such file" in ran.stderr + ran.stdout
    assert not list((tmp_path / "xmine" / "native").glob("_kernels*"))
