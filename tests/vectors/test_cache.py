"""Vectors are found again by what they were made of, and by nothing else; trouble is but told."""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.toys.faults import failing, within
from tests.toys.saved import without_digests
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.reranking import RerankingWeights
from xmine.errors import FileError, OptionError
from xmine.options import EncodingOptions
from xmine.text.sentences import sentence_table
from xmine.vectors import cache
from xmine.vectors.encoding import vectors_key

KEY = "0123456789abcdef" * 2
OTHER = "01ff" * 8


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "en.npy"
    path.parent.mkdir()
    np.save(path, np.ones((3, 4), dtype=np.float16))
    return path


def test_the_folder_is_where_the_user_wants_it(
    monkeypatch: pytest.MonkeyPatch, cache_of_its_own: Path
) -> None:
    assert cache.folder() == cache_of_its_own
    monkeypatch.delenv("XMINE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.folder() == Path("/somewhere/xmine")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache.folder() == Path("/home/somebody/.cache/xmine")


def test_what_is_kept_is_found_and_takes_no_room(matrix: Path, cache_of_its_own: Path) -> None:
    assert cache.find(KEY) is None
    cache.keep(KEY, matrix, "en.txt", "embedded")
    found = cache.find(KEY)
    assert found == cache_of_its_own / "vectors" / f"{KEY}.npy"
    assert found.samefile(matrix) and not found.is_symlink()
    [entry] = cache.entries()
    about = entry.about
    assert (about.text, about.encoder, about.rows, about.dim) == ("en.txt", "embedded", 3, 4)
    assert (entry.key, entry.wrong, entry.freed) == (KEY, "", 0)
    assert entry.bytes == matrix.stat().st_size
    shutil.rmtree(matrix.parent)  # the run goes, its vectors stay
    assert cache.find(KEY) == found
    assert cache.entries()[0].freed == entry.bytes
    cache.remove(entry)
    assert cache.find(KEY) is None and cache.entries() == []
    assert list(found.parent.iterdir()) == []


def test_a_run_takes_what_another_made(matrix: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.npy"
    assert not cache.take(KEY, mine) and not mine.exists()
    cache.keep(KEY, matrix, "en.txt", "embedded")
    mine.write_text("something else")
    for _ in range(2):
        assert cache.take(KEY, mine) and mine.samefile(matrix)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.npy", "run"]
    cache.remove(cache.entries()[0])
    assert mine.samefile(matrix)
    warnings: list[str] = []
    cache.keep(KEY, matrix, "en.txt", "embedded")
    assert not cache.take(KEY, tmp_path / "no folder" / "mine.npy", warnings.append)
    assert "cannot be used: " in warnings[0]


def test_on_another_disk_a_copy_is_kept_and_linked_to(
    matrix: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def other_disk(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", other_disk)
    monkeypatch.chdir(tmp_path)
    cache.keep(KEY, Path("run/en.npy"), "en.txt", "embedded")
    content = matrix.read_bytes()
    matrix.rename(tmp_path / "run" / "source.npy")  # as a run does
    shutil.rmtree(matrix.parent)
    found = cache.find(KEY)
    assert found is not None and found.read_bytes() == content and not found.is_symlink()
    [entry] = cache.entries()
    assert (entry.about.text, entry.freed) == ("en.txt", len(content))
    mine = tmp_path / "mine.npy"
    assert cache.take(KEY, mine) and mine.is_symlink() and mine.samefile(found)


def test_a_link_to_what_is_gone_is_of_no_use(matrix: Path, cache_of_its_own: Path) -> None:
    cache.keep(KEY, matrix, "en.txt", "embedded")
    found = cache_of_its_own / "vectors" / f"{KEY}.npy"
    found.unlink()
    found.symlink_to("/nowhere/source.npy")
    warnings: list[str] = []
    assert cache.find(KEY, warnings.append) is None
    assert warnings == [f"{found}: is left out: it is gone"]
    cache.keep(KEY, matrix, "en.txt", "embedded")
    assert cache.find(KEY) == found


def test_a_matrix_that_cannot_be_read_now_is_left_out_and_stays(
    matrix: Path, tmp_path: Path
) -> None:
    cache.keep(KEY, matrix, "en.txt", "embedded")
    found = cache.find(KEY)
    assert found is not None
    for at in range(2):  # the header is read, then the digest is compared
        warnings: list[str] = []
        with failing(within(found.parent, at), errno.ESTALE, reading=bool(at)):
            assert not cache.take(KEY, tmp_path / "mine.npy", warnings.append)
        assert len(warnings) == 1 and warnings[0].startswith(f"{found}: cannot be read: ")
    assert cache.take(KEY, tmp_path / "mine.npy")


def test_a_broken_matrix_is_left_out_and_made_good(matrix: Path, cache_of_its_own: Path) -> None:
    cache.keep(KEY, matrix, "en.txt", "embedded")
    found = cache_of_its_own / "vectors" / f"{KEY}.npy"
    content = found.read_bytes()
    found.unlink()
    found.write_bytes(content[:-1])
    warnings: list[str] = []
    assert cache.find(KEY, warnings.append) is None
    assert warnings == [f"{found}: is left out: it is broken"]
    assert cache.entries()[0].wrong == "it is broken"
    found.with_suffix(".toml").write_text("not = [toml")
    assert cache.entries()[0].about == cache.About()
    cache.keep(KEY, matrix, "en.txt", "embedded")
    assert cache.find(KEY) == found and cache.entries()[0].about.text == "en.txt"


def test_a_matrix_that_was_changed_is_left_out_and_made_good(matrix: Path, tmp_path: Path) -> None:
    cache.keep(KEY, matrix, "en.txt", "embedded")
    found = cache.folder() / "vectors" / f"{KEY}.npy"
    content = found.read_bytes()
    found.unlink()
    found.write_bytes(content[:-1] + b"x")
    warnings: list[str] = []
    mine = tmp_path / "mine.npy"
    assert not cache.take(KEY, mine, warnings.append) and not mine.exists()
    assert warnings == [f"{found}: is left out: it was changed since it was written"]
    assert cache.entries() == []
    cache.keep(KEY, matrix, "en.txt", "embedded")
    assert cache.take(KEY, mine) and mine.read_bytes() == content


@pytest.mark.parametrize("about", [None, "digest = 1", "rows = ", 'page = "x"', 'rows = "x"'])
def test_a_matrix_without_a_digest_is_left_out(matrix: Path, about: str | None) -> None:
    cache.keep(KEY, matrix, "en.txt", "embedded")
    found = cache.folder() / "vectors" / f"{KEY}.npy"
    found.with_suffix(".toml").unlink()
    if about is not None:
        digest = 'digest = "1"' if "digest" not in about else ""
        found.with_suffix(".toml").write_text(f"{about}\n{digest}\n")
    warnings: list[str] = []
    assert cache.find(KEY, warnings.append) is None
    assert warnings == [f"{found}: is left out: it has no digest"]


def test_what_is_cut_short_is_not_kept(matrix: Path) -> None:
    matrix.write_bytes(matrix.read_bytes()[:-1])
    cache.keep(KEY, matrix, "en.txt", "embedded")
    assert cache.find(KEY) is None and cache.entries() == []


def test_what_a_killed_process_left_goes_after_a_day(matrix: Path, cache_of_its_own: Path) -> None:
    folders = [cache_of_its_own / "vectors" / f".new-{name}" for name in ("old", "young")]
    for each in folders:
        each.mkdir(parents=True)
        (each / "link").touch()
    yesterday = time.time() - 25 * 3600
    os.utime(folders[0], (yesterday, yesterday))
    cache.keep(KEY, matrix, "en.txt", "embedded")
    assert [each.exists() for each in folders] == [False, True]


def test_what_was_found_was_used(matrix: Path) -> None:
    for key in (KEY, OTHER):
        cache.keep(key, matrix, "en.txt", "embedded")
    for age, key in enumerate((OTHER, KEY)):
        os.utime(cache.folder() / "vectors" / f"{key}.toml", (1000 - age, 1000 - age))
    assert [entry.key for entry in cache.entries()] == [OTHER, KEY]
    cache.find(KEY)
    assert [entry.key for entry in cache.entries()] == [KEY, OTHER]


def test_a_cache_that_cannot_be_written_is_told_and_no_error(
    matrix: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path(tmp_path, "file").write_text("in the way")
    monkeypatch.setenv("XMINE_CACHE", str(tmp_path / "file" / "cache"))
    warnings: list[str] = []
    cache.keep(KEY, matrix, "en.txt", "embedded", warnings.append)
    [warning] = warnings
    assert warning.startswith("the vectors of en.txt cannot be kept for later runs: ")
    assert warning.endswith("file/cache/vectors: Not a directory")
    assert cache.find(KEY) is None and cache.entries() == []
    monkeypatch.setenv("XMINE_CACHE", str(tmp_path / "full"))
    warnings.clear()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", full)
    cache.keep(KEY, matrix, "en.txt", "embedded", warnings.append)
    assert warnings[0].endswith("No space left on device")
    assert list(Path(tmp_path, "full", "vectors").iterdir()) == []


_CHILD = """
import sys
from pathlib import Path
import numpy as np
from xmine.vectors import cache
path = Path(sys.argv[1])
for time in range(60):
    key = f"{time:032x}"
    np.save(path, np.full((3, 4), time, dtype=np.float16))
    cache.keep(key, path, "en.txt", "embedded", lambda text: sys.exit(text))
    found = cache.find(key, lambda text: sys.exit(text))
    if found is None or (np.load(found) != time).any():
        sys.exit(f"not found: {time}")
    path.unlink()
"""


@pytest.mark.process
def test_two_processes_may_keep_the_same_vectors_at_once(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _CHILD, tmp_path / f"{at}.npy"], stderr=subprocess.PIPE
        )
        for at in range(3)
    ]
    for child in children:
        _, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (0, b"")
    found = cache.entries()
    assert len(found) == 60 and not any(entry.wrong for entry in found)
    assert {path.suffix for path in Path(cache.folder(), "vectors").iterdir()} == {".npy", ".toml"}


def test_entries_are_chosen_by_the_beginnings_of_their_keys(matrix: Path) -> None:
    for key in (KEY, OTHER):
        cache.keep(key, matrix, "en.txt", "embedded")
    assert [entry.key for entry in cache.chosen(["012", "01ff", KEY])] == [KEY, OTHER]
    for keys, message in ((["01"], "2 entries begin so"), (["7"], "no entry begins so")):
        with pytest.raises(OptionError, match=message):
            cache.chosen(keys)
    with pytest.raises(OptionError, match="2 entries"):
        cache.chosen([""])


def test_an_encoder_is_told_by_its_files_but_not_by_its_card(
    toy_folder: Path, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    one = SentenceEncoder.load(toy_folder)
    expected = one.fingerprint()
    assert expected and len(expected) == 32 and one.fingerprint() == expected
    assert toy_encoder.fingerprint() is None  # made in memory
    assert vectors_key(toy_encoder, "digest") is None
    copy = tmp_path / "copy"
    shutil.copytree(toy_folder, copy)
    Path(copy, "README.md").write_text("# Another card\n")
    Path(copy, "xmine.json").write_text('{"languages": ["en"], "method": "other"}')
    Path(copy, ".git").mkdir()
    Path(copy, ".git", "HEAD").write_text("somewhere")
    RerankingWeights(bias=1.0).save(copy)
    assert SentenceEncoder.load(copy).facts == EncoderFacts(("en",), "other")
    assert SentenceEncoder.load(copy).fingerprint() == expected
    for name in ("model.safetensors", "tokenizer.json", "config_sentence_transformers.json"):
        without_digests(shutil.copytree(toy_folder, tmp_path / name))
        with Path(tmp_path, name, name).open("ab") as file:
            file.write(b" " if name.endswith("json") else b"")
        if name == "model.safetensors":
            content = bytearray(Path(copy, name).read_bytes())
            content[-1] ^= 1
            Path(tmp_path, name, name).write_bytes(content)
        assert SentenceEncoder.load(tmp_path / name).fingerprint() != expected


def test_an_encoder_whose_folder_has_changed_since_is_refused(
    toy_folder: Path, tmp_path: Path
) -> None:
    folder = without_digests(shutil.copytree(toy_folder, tmp_path / "encoder"))
    told, late = SentenceEncoder.load(folder), SentenceEncoder.load(folder)
    expected = told.fingerprint()
    os.utime(folder / "model.safetensors", ns=(1, 1))  # written anew
    with pytest.raises(FileError, match=r"model\.safetensors: was changed while it was read"):
        late.fingerprint()
    assert SentenceEncoder.load(folder).fingerprint() == told.fingerprint() == expected
    late = SentenceEncoder.load(folder)
    (folder / "late.json").write_text("{}")  # read or not: nobody knows
    with pytest.raises(FileError, match="encoder: was changed while it was read"):
        late.fingerprint()
    late = SentenceEncoder.load(folder)
    with (
        failing((folder / "model.safetensors").__eq__, reading=True),
        pytest.raises(FileError, match=r"model\.safetensors: cannot be read: "),
    ):
        late.fingerprint()
    shutil.rmtree(folder)
    with pytest.raises(FileError, match="was changed while it was read"):
        late.fingerprint()
    told.source = None  # its weights were changed
    assert told.fingerprint() is None


def test_a_static_encoder_is_the_same_under_any_options(toy_folder: Path) -> None:
    options = EncodingOptions(batch_size=7, max_length=9, dtype="bfloat16")
    one, other = SentenceEncoder.load(toy_folder), SentenceEncoder.load(toy_folder, options)
    assert one.fingerprint() == other.fingerprint()


def test_a_transformer_is_another_under_other_options(checkpoint: Callable[..., Path]) -> None:
    folder = checkpoint()
    seen = set()
    for options in (
        EncodingOptions(device="cpu", dtype="float32"),
        EncodingOptions(device="cpu", dtype="bfloat16"),
        EncodingOptions(device="cpu", dtype="float32", batch_size=7),
        EncodingOptions(device="cpu", dtype="float32", max_length=9),
    ):
        seen.add(SentenceEncoder.load(folder, options).fingerprint())
        assert SentenceEncoder.load(folder, options).fingerprint() in seen
    by_device = SentenceEncoder.load(folder, EncodingOptions(device="cpu", dtype="float32"))
    for device, size in (("cpu", 32), ("cuda:1", 512)):  # a run that was mined there
        options = EncodingOptions(device="cpu", dtype="float32", batch_size=size)
        given = SentenceEncoder.load(folder, options)
        assert by_device.fingerprint(device) == given.fingerprint(device)
    asked = SentenceEncoder.load(folder, EncodingOptions(device="cpu", dtype="float32"))
    asked.body.pooling.include_prompt = False  # type: ignore[union-attr]
    assert asked.fingerprint() not in seen and len(seen) == 4


def test_a_key_names_texts_encoder_and_prompt(toy_folder: Path) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    one, other = sentence_table("a", ["x", "y"]).digest(), sentence_table("a", ["y", "x"]).digest()
    keys = {
        vectors_key(encoder, digest, prompt)
        for digest in (one, other)
        for prompt in ("", "query: ")
    }
    assert len(keys) == 4
    assert vectors_key(SentenceEncoder.load(toy_folder), one) in keys
    with pytest.raises(OptionError, match="no prompt 'query'"):
        vectors_key(encoder, one, "query")


def test_the_embedded_encoder_has_its_name() -> None:
    encoder = SentenceEncoder.load()
    assert encoder.name == "embedded" and encoder.fingerprint()
