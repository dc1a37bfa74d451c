"""Files appear whole or not at all: through links, with long names, two at a time."""

import os
from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.files.atomic import check_free, replacing, replacing_all, replacing_folder, together


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far/real.tsv").write_text("old")
    for link, leads in (("link.tsv", "far/real.tsv"), ("new.tsv", "far/not-there-yet.tsv")):
        (tmp_path / link).symlink_to(leads)
        with replacing(tmp_path / link) as partial:
            assert partial.parent == tmp_path / "far"  # a rename stays inside one file system
            partial.write_text("new")
        assert (tmp_path / link).is_symlink()
        assert (tmp_path / leads).read_text() == "new"
    (tmp_path / "round").symlink_to("round")
    with replacing(tmp_path / "round") as partial:
        partial.write_text("new")
    assert (tmp_path / "round").read_text() == "new"
    assert sorted(os.listdir(tmp_path / "far")) == ["not-there-yet.tsv", "real.tsv"]
    (tmp_path / "far/folder").mkdir()
    (tmp_path / "link").symlink_to("far/folder")
    for name in ("one", "two"):
        with replacing_folder(tmp_path / "link") as partial:
            (partial / name).touch()
    assert (tmp_path / "link").is_symlink() and os.listdir(tmp_path / "far/folder") == ["two"]
    assert not [name for name in os.listdir(tmp_path / "far") if name.startswith(".")]


@pytest.mark.parametrize("name", ["x" * 251 + ".tsv", "字" * 83 + ".tsv"])
def test_a_name_may_be_as_long_as_a_name_can_be(tmp_path: Path, name: str) -> None:
    with replacing(tmp_path / name) as partial:
        partial.write_text("text")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with replacing_folder(tmp_path / name.removesuffix(".tsv")) as folder:
        (folder / "file").write_text("text")
    assert len(list(tmp_path.iterdir())) == 2


def test_of_two_files_both_appear_or_none(tmp_path: Path) -> None:
    paths = [tmp_path / "p.en", tmp_path / "p.zh"]
    with pytest.raises(FileError) as raised, replacing_all(paths) as partials:
        for partial in partials:
            partial.write_text("text")
        paths[1].mkdir()  # so its name cannot be taken
    assert raised.value.message == f"{paths[1]}: cannot be written: Is a directory"
    assert [path.name for path in tmp_path.iterdir()] == ["p.zh"]
    with pytest.raises(FileError) as raised, replacing_all([paths[0], tmp_path / "no/p.zh"]):
        pass
    assert raised.value.message.startswith(f"{tmp_path}/no/p.zh: cannot be written: No such")
    assert [path.name for path in tmp_path.iterdir()] == ["p.zh"]


def test_what_is_there_already_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    for name in ("file", "folder", "pipe"):
        path = tmp_path / name
        if name == "file":
            path.write_text("old")
        elif name == "folder":
            path.mkdir()
            check_free(path, force=False, folder=True)  # as good as none
            (path / "file").write_text("old")
        else:
            os.mkfifo(path)
        said = {}
        for force in (False, True):
            for folder in (False, True):
                try:
                    check_free(path, force=force, folder=folder)
                except FileError as error:
                    said[force, folder] = error.message.removeprefix(f"{path}: ")
        another = "is a folder" if name == "folder" else "is a file"
        same = "is not a regular file" if name == "pipe" else "exists already"
        expected = {
            (force, folder): same if folder == (name == "folder") else another
            for force in (False, True)
            for folder in (False, True)
        }
        if name != "pipe":
            del expected[True, name == "folder"]
        assert said == expected


def test_what_a_killed_process_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    left = tmp_path / ".a.tsv.k1ll3d.partial"
    left.write_text("half")
    check_free(tmp_path / "a.tsv", force=False)
    with replacing(tmp_path / "a.tsv") as partial:
        assert list(tmp_path.iterdir()) == [partial]
        check_free(tmp_path / "a.tsv", force=False)
        with replacing(tmp_path / "a.tsv") as other:
            other.write_text("other")
            assert partial.exists()
        partial.write_text("whole")
    assert [each.name for each in tmp_path.iterdir()] == ["a.tsv"]
    assert (tmp_path / "a.tsv").read_text() == "whole"


def test_outputs_of_one_command_appear_at_its_end_or_none_does(tmp_path: Path) -> None:
    def write() -> None:
        for name in "ab":
            with replacing(tmp_path / name) as partial:
                partial.write_text(name)
            assert not (tmp_path / name).exists()

    with pytest.raises(KeyboardInterrupt), together(f"{tmp_path}/a,{tmp_path}/b"):
        write()
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    with together(tmp_path / "a", tmp_path / "b"):
        with replacing(tmp_path / "part") as partial:
            partial.write_text("a step of the work")
        (tmp_path / "part").unlink()  # is there at once
        write()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]
