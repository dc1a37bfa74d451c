"""Vectors that exist already: what is read, what is refused; nothing is lost on the way."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.encoders.vector_files import read_vectors, unit_rows
from xmine.errors import FileError
from xmine.run.steps import Steps
from xmine.text.sentences import sentence_table


def scaled_rows(vectors: Any, rows: Any, folder: Path) -> NDArray[np.float16]:
    """Scale some rows, from 0, by `unit_rows`."""
    lines = np.asarray(rows) + 1
    table = replace(sentence_table("en.txt", list(map(str, lines))), lines=lines)
    return unit_rows(vectors, table, Steps(folder)).every()


def test_npy_files_open_without_being_read(tmp_path: Path) -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "a.npy", vectors)
    np.save(tmp_path / "half.npy", vectors.astype(np.float16))
    Path(tmp_path, "npy.by.content").write_bytes(Path(tmp_path, "a.npy").read_bytes())
    for name in ("a.npy", "npy.by.content"):
        opened = read_vectors(tmp_path / name)
        assert isinstance(opened, np.memmap)
        assert (opened == vectors).all()
    assert read_vectors(tmp_path / "half.npy").dtype == np.float16


def test_what_is_no_matrix_of_vectors_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "flat.npy", np.ones(3, dtype=np.float32))
    np.save(tmp_path / "thin.npy", np.ones((3, 0), dtype=np.float32))
    np.save(tmp_path / "double.npy", np.ones((2, 3)))
    np.save(tmp_path / "good.npy", np.ones((2, 3), dtype=np.float32))
    good = Path(tmp_path, "good.npy").read_bytes()
    Path(tmp_path, "cut.npy").write_bytes(good[:-5])
    Path(tmp_path, "text.npy").write_text("one\ntwo\n")
    Path(tmp_path, "empty.npy").write_bytes(b"")
    np.savez(tmp_path / "two.npz", np.ones((2, 3)), np.ones(3))
    Path(tmp_path, "raw").write_bytes(b"\0" * 26)
    for name, message in (
        ("missing.npy", "missing.npy: No such file"),
        (".", ": Is a directory"),
        ("empty.npy", "empty.npy: the file is empty"),
        ("cut.npy", "cut.npy: not a .npy file, or a broken one: "),
        ("text.npy", "text.npy: not a .npy file, or a broken one: "),
        ("flat.npy", "flat.npy: float32 [3]; expected float32 [lines, dim]"),
        ("thin.npy", "thin.npy: float32 [3, 0]; expected float32 [lines, dim]"),
        ("double.npy", "double.npy: float64 [2, 3]; expected float32"),
        ("two.npz", "two.npz: a .npz archive, which holds several arrays"),
        ("raw", "raw: not a .npy file, or a broken one: "),
    ):
        with pytest.raises(FileError) as error:
            read_vectors(tmp_path / name)
        assert message in error.value.message


def test_rows_are_scaled_to_length_one_and_unit_rows_are_left_alone(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    rows = random.standard_normal((20_000, 8)).astype(np.float32)
    units = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    every = np.arange(20_000)
    expected = units.astype(np.float16)
    for scaled in (units, rows, rows * np.float32(1e30), rows * np.float32(1e-30)):
        found = scaled_rows(scaled, every, tmp_path)
        np.testing.assert_allclose(found.astype(float), expected.astype(float), atol=1e-3)
    assert (scaled_rows(units, every, tmp_path) == expected).all()
    rows[3] = 0
    assert scaled_rows(rows, [3, 1], tmp_path).any(axis=1).tolist() == [False, True]


def test_a_part_of_a_file_is_read_until_the_file_is_changed(tmp_path: Path) -> None:
    units, taken = np.eye(6, dtype=np.float32), np.array([0, 2])
    np.save(tmp_path / "a.npy", units)
    given = read_vectors(tmp_path / "a.npy")
    slices = {"all": given[:], "first": given[:4], "turned": given[::-1]}
    for rows in (*slices.values(), given[[5, 3, 1]], given * 1):
        assert (scaled_rows(rows, taken, tmp_path) == rows[taken]).all()
    np.save(tmp_path / "a.npy", units[:, :5])
    for rows in slices.values():
        with pytest.raises(FileError, match=r"a\.npy: was changed while it was read"):
            scaled_rows(rows, taken, tmp_path)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named(wrong: float, tmp_path: Path) -> None:
    rows = np.ones((9, 4), dtype=np.float32)
    rows[6, 2] = wrong
    with pytest.raises(FileError, match=r"vectors of en.txt: row 7 has a number that is not"):
        scaled_rows(rows, [1, 6, 8], tmp_path)
    assert len(scaled_rows(rows, [1, 8], tmp_path)) == 2  # no sentence has that row


def test_one_matrix_may_serve_both_sides(tmp_path: Path) -> None:
    """Without a run that is kept, matrices are not hashed; their lines tell the sides apart."""
    vectors, steps = np.eye(4, dtype=np.float32), Steps(tmp_path, kept=False)
    for lines in ([1, 2], [3, 4]):
        table = replace(sentence_table("f", ["a", "b"]), lines=np.array(lines))
        found = unit_rows(vectors, table, steps).every()
        assert found.tolist() == vectors[[line - 1 for line in lines]].tolist()
