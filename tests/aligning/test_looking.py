"""A look tells texts in one order, keys and documents from heaps of lines; the result decides."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.toys.command import Ended
from xmine.aligning.forms import pair_as_seen
from xmine.aligning.looking import Seen, look
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.text.inputs import text_input

TABLE = Path(__file__).parents[2] / "examples" / "languages.tsv"
CODES, *ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
SIDES = dict(zip(CODES, map(list, zip(*ROWS, strict=True)), strict=True))


def kinds_of(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Make texts that are in the order of `lines`, and some that are not."""
    chance = random.Random(0)
    thinned = [line for line in lines if chance.random() < 0.5]
    sizes = [chance.randint(2, 6) for _ in lines]
    starts = [sum(sizes[:at]) for at in range(len(sizes)) if sum(sizes[:at]) < len(lines)]
    ends = [*starts[1:], len(lines)]
    yield "order", "as they are", lines
    yield "order", "half of them", thinned
    yield "order", "a fifth is not there", lines[:40] + lines[60:]
    for size in (2, 3, 5, 10):
        joined = [" ".join(lines[at : at + size]) for at in range(0, len(lines), size)]
        yield "order", f"paragraphs of {size}", joined
    joined = [" ".join(lines[at:end]) for at, end in zip(starts, ends, strict=True)]
    yield "order", "paragraphs of 2 to 6", joined
    yield "lines", "shuffled", chance.sample(lines, len(lines))
    yield "lines", "backwards", lines[::-1]
    yield "lines", "sorted", sorted(lines, key=len)


@pytest.mark.parametrize("code", CODES[1:])
def test_an_order_is_seen_in_every_language_and_length_and_no_other(
    code: str, tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load()
    source = tmp_path / "en.txt"
    source.write_text("\n".join(SIDES["en"]), encoding="utf-8")
    for form, name, lines in kinds_of(SIDES[code]):
        target = tmp_path / f"{code}.txt"
        target.write_text("\n".join(lines), encoding="utf-8")
        for inputs in ((source, target), (target, source)):
            seen = look((text_input(inputs[0]), text_input(inputs[1])), encoder)
            assert (name, seen.form) == (name, form), seen


def test_an_alignment_that_covers_little_gives_way_to_mining(tmp_path: Path) -> None:
    """Of two heaps of lines that are called ordered, mining finds more."""
    left, right = tmp_path / "en.txt", tmp_path / "de.txt"
    left.write_text("\n".join(SIDES["en"]), encoding="utf-8")
    right.write_text("\n".join(random.Random(0).sample(SIDES["de"], 100)), encoding="utf-8")
    inputs, encoder = (text_input(left), text_input(right)), SentenceEncoder.load()
    found = pair_as_seen(
        Seen("order", gain=3.0), inputs, encoder, MiningOptions(), lambda: mine(*inputs)
    )
    assert isinstance(found, Mined) and len(found) > 90


def catalogue(folder: Path, code: str, rows: list[int], root: str = "") -> str:
    texts: object = {f"text.{at}.say": SIDES[code][at] for at in rows}
    path = folder / f"{code}.json"
    path.write_text(json.dumps({root: texts} if root else texts), encoding="utf-8")
    return str(path)


def test_texts_with_the_same_keys_are_paired_by_these(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """In any order; what one side alone has is left out, and keys of lists are none."""
    chance, every = random.Random(0), list(range(100))
    for root in ("", "en"):
        source = catalogue(tmp_path, "en", every[:90], root)
        target = catalogue(tmp_path, "ja", chance.sample(every[10:], 90), root and "ja")
        done = command("mine", source, target, "--format", "jsonl")
        pairs = [json.loads(line) for line in done.out.splitlines()]
        assert {(x["source"], x["target"]) for x in pairs} == {
            (SIDES["en"][at], SIDES["ja"][at]) for at in range(10, 90)
        }
        assert "share 80 keys (10 and 10 texts have others or none): texts are paired" in done.err
    for code in ("en", "de"):
        lines = [f"{at},{SIDES[code][at]!r}" for at in chance.sample(every, 100)]
        (tmp_path / f"{code}.csv").write_text(
            "id,text\n" + "\n".join(lines).replace("'", '"'), encoding="utf-8"
        )
    inputs = [str(tmp_path / f"{code}.csv:text") for code in ("en", "de")]
    pairs = [json.loads(x) for x in command("mine", *inputs, "--format=jsonl").out.splitlines()]
    assert len(pairs) == 100 and all(x["source_place"] == x["target_place"] for x in pairs)
    for code in ("en", "de"):
        path = tmp_path / f"list.{code}.json"
        path.write_text(json.dumps({"texts": chance.sample(SIDES[code], 90)}), encoding="utf-8")
    lists = [text_input(tmp_path / f"list.{code}.json") for code in ("en", "de")]
    assert look((lists[0], lists[1]), SentenceEncoder.load()).form == "lines"


def test_documents_that_are_versions_of_one_are_aligned_and_the_rest_is_mined(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """Four documents have a version of another name; a fifth one is scattered over these."""
    for code, names in (("en", "abcde"), ("es", "vwxy")):
        (tmp_path / code).mkdir()
        for at, name in enumerate(names):
            lines = SIDES[code][20 * at : 20 * at + 20]
            if code == "es":
                lines += SIDES[code][80 + at :: 4]
            if at == 1 and code == "es":  # two lines in one
                lines = [" ".join(lines[:2]), *lines[2:]]
            (tmp_path / code / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    done = command("mine", "en", "es", "--format", "jsonl")
    assert "79 beads of 4 pairs of documents, 20 pairs elsewhere" in done.err
    pairs = [json.loads(line) for line in done.out.splitlines()]
    beads = [(x["source_lines"], x["target_lines"]) for x in pairs if "b.txt" in x["source_file"]]
    assert beads[:18] == [("1-2", "1"), *((str(at), str(at - 1)) for at in range(3, 20))]
    elsewhere = {(x["source"], x["target"]) for x in pairs[79:]}
    assert elsewhere == set(zip(SIDES["en"][80:], SIDES["es"][80:], strict=True))
    plain = command("mine", "en", "es", "--as", "lines", "--format", "jsonl")
    assert "source_lines" not in plain.out and "documents" not in plain.err


def test_what_is_asked_for_holds_and_what_it_cannot_do_is_refused(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    for code in ("en", "fr"):
        Path(tmp_path, code).write_text("\n".join(SIDES[code]), encoding="utf-8")
    trial = command("mine", "en", "fr", "--dry-run")
    assert "en and fr are in one order" in trial.err and "100 x 100" in trial.estimate
    assert command("mine", "en", "fr").out.startswith("prob\tsource\ttarget\tsource_lines")
    for wish in ("--as=lines", "--top=50", "--retrieval=fwd", "--plot=a.png"):
        assert command("mine", "en", "fr", wish).out.startswith(
            "score\tsource\ttarget\tsource_line\t"
        )
    seen = json.loads(command("mine", "en", "fr", "--json").out)["seen"]
    assert seen["as"] == "order" and seen["gain_of_order"] > 10 and seen["keys"] == 0
    refused = command("mine", "en", "fr", "--as", "keys")
    assert refused.code == 2 and "share too few keys" in refused.err
    assert "--as order and --top" in command("mine", "en", "fr", "--as=order", "--top=5").err
    for _ in range(2):  # a run stays what it was begun as
        assert "100 beads" in command("mine", "en", "fr", "-o", "run/").err


def test_the_user_is_told_what_is_done_with_what_was_seen(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """The line of the names of columns is no text; a run mines; tables of other things, too."""
    for code, rows in (("en", SIDES["en"]), ("de", SIDES["de"]), ("fr", SIDES["fr"][::-1])):
        lines = [f'{at},"{text}"' for at, text in enumerate(rows, start=1)]
        (tmp_path / f"{code}.csv").write_text("\n".join(["id,text", *lines]), encoding="utf-8")
    said = "en.csv:text and de.csv:text share 100 keys"
    same = command("mine", "en.csv:text", "de.csv:text").err
    assert f"{said}: texts are paired by these; --as lines mines them" in same
    run = command("mine", "en.csv:text", "de.csv:text", "-o", "run/").err
    assert f"{said}, but a run mines lines: give -o FILE\n" in run
    other = command("mine", "en.csv:text", "fr.csv:text")
    assert "fr.csv:text share 100 keys, but mining finds more" in other.err
    assert len(other.out.splitlines()) > 90


@pytest.mark.parametrize("form", ["keys", "documents"])
def test_standard_input_has_no_form_that_reads_it_twice(
    form: str, command: Callable[..., Ended]
) -> None:
    Path("de").write_text("\n".join(SIDES["de"]), encoding="utf-8")
    given = "\n".join(SIDES["en"]).encode()
    done = command("mine", "-", "de", "--as", form, stdin=given)
    assert done.code == 2 and f"--as {form}: standard input is read once" in done.err


def test_each_line_of_documents_is_listed_once_also_of_single_files(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """The options of aligning count within documents; advice to align is not given."""
    for code in ("en", "de"):
        Path(code).mkdir()
        for at in range(2):
            part = SIDES[code][50 * at : 50 * at + 50]
            Path(code, f"{at}.txt").write_text("\n".join(part), encoding="utf-8")
        Path(f"{code}.txt").write_text("\n".join(SIDES[code]), encoding="utf-8")
    for inputs in (("en.txt", "de.txt"), ("en", "de.txt"), ("en", "de")):
        done = command("mine", *inputs, "--as", "documents", "--format", "jsonl")
        rows = [json.loads(line) for line in done.out.splitlines()]
        assert len({x["source"] for x in rows}) == len(rows) == 100
        assert "rise together" not in done.err
    surer = command("mine", "en", "de", "--min-prob", "0.9995", "--as", "documents").out
    assert 10 < len(surer.splitlines()) < 90


def test_a_language_that_nobody_knows_is_aligned_where_lengths_are_in_order(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """Too short to tell that it is foreign, but no language is told either."""
    chance = random.Random(0)
    made = dict[str, str]()
    for word in " ".join(SIDES["de"]).lower().split():
        syllables = range(max(1, len(word) // 2))
        new = "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiouy") for _ in syllables)
        made.setdefault(word, new)
    odd = [" ".join(made[word] for word in line.lower().split()) for line in SIDES["de"]]
    Path("en").write_text("\n".join(SIDES["en"]), encoding="utf-8")
    for rows, beads in ((odd, 100), (chance.sample(odd, 100), 0)):
        Path("odd").write_text("\n".join(rows), encoding="utf-8")
        assert ("100 beads from" in command("mine", "en", "odd").err) == bool(beads)


def test_a_run_that_is_begun_one_way_does_not_go_on_another_way(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """What grows is aligned anew, with the cut of a file; other texts, other forms are refused."""
    chance = random.Random(0)
    Path("heap").write_text("\n".join(chance.sample(SIDES["de"], 100)), encoding="utf-8")
    for lines in (60, 100):
        for code in ("en", "de"):
            Path(code).write_text("\n".join(SIDES[code][:lines]), encoding="utf-8")
        grown = command("mine", "en", "de", "-o", "run/").err
        assert f"{lines} beads from {lines}" in grown and "at least 0.5000" in grown
    assert "has an alignment" in command("mine", "en", "de", "-o", "run/", "--as=lines").err
    assert command("mine", "en", "heap", "-o", "run/").code == 2
    assert command("mine", "en", "heap", "-o", "heaps/").code == 0
    refused = command("mine", "en", "heap", "-o", "heaps/", "--as=order")
    assert refused.code == 2 and "has mined pairs" in refused.err


def test_an_option_that_texts_with_keys_do_not_take_mines_them_and_says_so(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    inputs = [catalogue(tmp_path, code, list(range(100))) for code in ("en", "de")]
    for option in ("--precision=0.99", "--min-prob=0.9", "--segment"):
        done = command("mine", *inputs, option)
        assert f"but {option.partition('=')[0]} is of mined lines: leave it out" in done.err
        assert done.out.startswith("score\tsource\ttarget\tsource_line\ttarget_line\tcosine")
        assert command("mine", *inputs, option, "--as", "keys").code == 2


def test_texts_that_are_not_translated_yet_do_not_keep_others_from_their_keys(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """A catalogue of which none is translated has no pairs, as mined."""
    source = catalogue(tmp_path, "en", list(range(100)))
    for untranslated, rows in ((70, 100), (100, 0)):
        texts = SIDES["en"][:untranslated] + SIDES["fr"][untranslated:]
        target = {f"text.{at}.say": text for at, text in enumerate(texts)}
        Path("fr.json").write_text(json.dumps(target), encoding="utf-8")
        done = command("mine", source, "fr.json", "--format", "jsonl")
        assert len(done.out.splitlines()) == rows and f"copy {untranslated}" in done.err


def test_copies_and_beads_with_a_flag_are_left_out_and_counted(
    tmp_path: Path, command: Callable[..., Ended]
) -> None:
    """Two lines were not translated; one has another number."""
    english, german = list(SIDES["en"]), list(SIDES["de"])
    german[20], german[40] = english[20], english[40]
    english[60], german[60] = "The hall has 312 seats.", "Der Saal hat 457 Plätze."
    for name, lines in (("en", english), ("de", german)):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    mined = command("mine", "en", "de", "--drop", "number")
    assert "dropped: copy 2, number 1" in mined.err and "97 beads" in mined.err
    assert "beads: 1-1 97" in mined.err
    assert mined.out.count("\n") == 98 and english[20] not in mined.out
    aligned = command("align", "en", "de")
    assert aligned.out.count("\n") == 101 and "dropped" not in aligned.err
    assert command("align", "en", "de", "--drop", "copy").out.count("\n") == 99
    assert command("align", "en", "de", "--drop", "copy", "--all").out.count("\n") == 101


def test_few_shared_keys_are_none(tmp_path: Path) -> None:
    """Two unrelated catalogues share names such as `title`."""
    paths = [tmp_path / f"{code}.json" for code in ("en", "de")]
    for code, path in zip(("en", "de"), paths, strict=True):
        keys = [f"common.{at}.say" if at < 5 else f"{code}.{at}.say" for at in range(20)]
        path.write_text(json.dumps(dict(zip(keys, SIDES[code][:20], strict=True))))
    assert look((text_input(paths[0]), text_input(paths[1])), SentenceEncoder.load()).form != "keys"


@pytest.mark.parametrize("kind", ["shuffled within documents", "scattered over documents"])
def test_folders_whose_documents_explain_little_are_mined(
    tmp_path: Path, command: Callable[..., Ended], kind: str
) -> None:
    """Lines of documents in another order align badly; one version among five is not the rule."""
    chance = random.Random(0)
    for code in ("en", "es"):
        (tmp_path / code).mkdir()
        for at in range(5):
            rows = list(range(20 * at, 20 * at + 20))
            if code == "es" and kind.startswith("shuffled"):
                chance.shuffle(rows)
            elif code == "es" and at:
                rows = list(range(20 + at - 1, 100, 4))
            lines = [SIDES[code][row] for row in rows]
            (tmp_path / code / f"{code}{at}.txt").write_text("\n".join(lines), encoding="utf-8")
    done, plain = command("mine", "en", "es"), command("mine", "en", "es", "--as", "lines")
    assert done.out == plain.out and "bead" not in done.err
    if kind.startswith("shuffled"):
        asked = command("mine", "en", "es", "--as", "documents")
        said = "no documents are versions of one text: their lines are mined"
        assert asked.out == plain.out and said in " ".join(asked.err.split())
