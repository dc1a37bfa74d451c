"""Documents are paired by their sentences and names, and say something of their sentences."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.conftest import Command
from xmine.errors import XmineError
from xmine.files.reading import read_lines
from xmine.mining.documents import _without_language, pair_documents
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.scoring.documents import MOST_ADDED, WEIGHTS, Overlap
from xmine.text.inputs import read_texts

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = np.array([4, 4, 4]), np.array([4, 4, 2])


def shared(*pairs: tuple[int, int, float]) -> Overlap:
    """Add up pairs of sentences: source document, target document, probability."""
    x, y, probs = (np.array(each) for each in zip(*pairs, strict=True))
    return Overlap.of((x, y), (3, 3), probs)


def test_a_document_is_paired_with_the_one_that_its_pairs_lead_to() -> None:
    found = shared(*[(0, 1, 0.9)] * 4, (0, 0, 0.3), (1, 0, 0.2), (2, 2, 0.9), (2, 2, 0.7))
    pairs = found.pairs(SIZES)
    assert [(each.source, each.target) for each in pairs] == [(0, 1), (2, 2), (1, 0)]
    assert pairs[0].sentences == pytest.approx(3.6)
    assert pairs[0].prob > 0.8
    assert pairs[1].prob > 0.7  # both of its sentences
    assert pairs[2].prob < 0.1
    # An equal rival makes a pair less sure.
    assert shared(*[(0, 1, 0.9)] * 4, *[(0, 0, 0.9)] * 4).pairs(SIZES)[0].prob < pairs[0].prob


def test_the_other_sentences_of_documents_are_evidence_and_a_pair_is_none_for_itself() -> None:
    probs = [0.9, 0.9, 0.9, 0.5, 0.5]
    x, y = np.array([0, 0, 0, 0, 1]), np.array([1, 1, 1, 1, 0])
    found = Overlap.of((x, y), (3, 3), np.array(probs))
    evidence = found.evidence(x, y, np.array(probs), SIZES)
    assert evidence[3] > 0.5 > 0 > evidence[4]
    sure = Overlap.of((x, y), (3, 3), np.array([*probs[:4], 1.0]))
    other = sure.evidence(x, y, np.array([*probs[:4], 1.0]), SIZES)
    assert other[4] == pytest.approx(evidence[4], abs=0.3)


def test_evidence_is_the_rate_of_translations_inside_of_pairs_of_documents() -> None:
    pairs = [
        *((0, 1, 0.9), (0, 1, 0.8), (0, 1, 0.9), (2, 2, 1.0), (2, 2, 0.5), (1, 0, 0.7)),
        (1, 2, 0.1),
    ]
    x, y, probs = (np.array(each) for each in zip(*pairs, strict=True))
    sizes = np.array([4, 40, 4]), np.array([30, 4, 2])
    are_pair = []
    for n, (one, other, _) in enumerate(pairs):
        beside = sum(p for m, (a, b, p) in enumerate(pairs) if (a, b) == (one, other) and m != n)
        share = min(beside / max(min(sizes[0][one], sizes[1][other]) - 1, 1), 1)
        odds = WEIGHTS[0] + WEIGHTS[2] * np.log((share + 0.01) / (1 - share + 0.01))
        prob = 1 / (1 + np.exp(-odds))
        are_pair.append(prob if prob >= 0.02 else 0)
    every, cells = probs.sum(), sizes[0].sum() * sizes[1].sum()
    there = sum(p * of for (_, _, p), of in zip(pairs, are_pair, strict=True))
    firsts = {(a, b): of for (a, b, _), of in reversed(list(zip(pairs, are_pair, strict=True)))}
    inside = sum(of * sizes[0][a] * sizes[1][b] for (a, b), of in firsts.items())
    within, without = (there + 1) / (inside + cells / (every + 1)), every - there + 1
    wanted = [np.log((of * within * cells + (1 - of) * without) / (every + 1)) for of in are_pair]
    assert shared(*pairs).evidence(x, y, probs, sizes) == pytest.approx(wanted)
    x, y, ones = np.zeros(1000, int), np.ones(1000, int), np.ones(1000)
    large = np.array([1000, 10**6, 10**6]), np.array([10**6, 1000, 10**6])
    sure = Overlap.of((x, y), (3, 3), ones).evidence(x, y, ones, large)
    assert sure == pytest.approx(np.full(1000, MOST_ADDED))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16, 50])
def test_a_name_is_a_prior_whose_odds_sentences_multiply(size: int) -> None:
    """Nine to one; none of some sentences translated speak against it, a tenth of them do not."""
    sizes = np.full(3, size), np.full(3, size)

    def named(*pairs: tuple[int, int, float], told: bool = True) -> dict[tuple[int, int], float]:
        found = shared((2, 2, 1.0), *pairs).pairs(sizes, {0: 0, 1: 1}, told=told)
        return {(each.source, each.target): each.prob for each in found}

    assert named()[0, 0] < 0.5 and named()[1, 1] < 0.5
    assert named(told=False)[0, 0] == pytest.approx(0.9)  # of a language that the encoder lacks
    some = named(*[(0, 0, 0.9)] * max(1, size // 10))
    assert some[0, 0] > 0.7 and some[1, 1] < 0.5
    if size >= 4:  # names do not count where the sentences have translations elsewhere
        assert (0, 0) not in named(*[(0, 1, 0.9)] * (size // 2))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make pages of the examples, with unlike names; two of five have no translation."""
    folder = tmp_path_factory.mktemp("site")
    gold = [line.split("\t") for line in read_lines(EXAMPLES / "gold.tsv")]
    texts = {side: read_texts(EXAMPLES / f"{side}.txt") for side in ("en", "zh")}
    for column, (side, lines) in enumerate(texts.items()):
        (folder / side).mkdir()
        pages = [[lines[int(row[column]) - 1] for row in gold[at : at + 10]] for at in (0, 10, 20)]
        known = {int(row[column]) for row in gold}
        alone = [line for n, line in enumerate(lines, 1) if line and n not in known]
        for number, page in enumerate([*pages, alone[:10], alone[10:20]]):
            name = f"{number}.txt" if side == "en" else f"page{number + 7}.txt"
            (folder / side / name).write_text("\n".join(page) + "\n", encoding="utf-8")
    return folder


def test_pages_are_paired_and_aligned(site: Path, tmp_path: Path, command: Command) -> None:
    done = command("documents", f"{site}/en", f"{site}/zh", "--align", "site.tmx", "-o", "d.tsv")
    assert "3 pairs of documents" in done.err
    pairs = pl.read_csv(tmp_path / "d.tsv", separator="\t")
    stems = [Path(name).stem for name in [*pairs["source"], *pairs["target"]]]
    assert sorted(stems) == ["0", "1", "2", "page7", "page8", "page9"]
    assert pairs["prob"].min() > 0.9  # type: ignore[operator]
    assert (tmp_path / "site.tmx").read_text(encoding="utf-8").count("<tu>") >= 30


def test_documents_of_tables_one_file_and_none_are_aligned(
    site: Path, tmp_path: Path, command: Command
) -> None:
    for side in ("en", "zh"):
        (tmp_path / side).mkdir()
        for page in (site / side).iterdir():
            rows = [f"1\t{line}\n" for line in read_lines(page)]
            path = tmp_path / side / f"{page.stem}.tsv"
            path.write_text("".join(rows), encoding="utf-8")
        (tmp_path / side / "blank.tsv").write_text("\n")  # paired by its name
    one = f"{site}/en/0.txt", f"{site}/zh/page7.txt"
    for inputs, least, number, beads in (
        (("en:2", "zh:2"), "0.5", "4 pairs of documents", 30),
        (one, "0", "1 pair of documents", 10),
        (one, "1", "0 pairs of documents", 0),
    ):
        options = "--align", "b.tsv", "--min-prob", least, "--force"
        assert number in command("documents", *inputs, *options).err
        found = (tmp_path / "b.tsv").read_text(encoding="utf-8").splitlines()
        assert len(found) == 1 + beads


def test_files_that_are_left_out_are_named(site: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "0.txt").write_bytes((site / "en" / "0.txt").read_bytes())
    (tmp_path / "en" / "x.html").write_text("<nav>Menu</nav>")
    done = command("documents", "en", f"{site}/zh")
    assert "en/x.html: there is no text in it" in done.err


def test_names_that_agree_count_where_sentences_say_nothing(tmp_path: Path) -> None:
    for name, code in (
        *(("en-US/a.md", "en"), ("zh/a.md", "zh"), ("a.zh-CN.md", "zh"), ("a_zh_Hans.md", "zh")),
        *(("eng/a.md", "en"), ("German/a.md", "de"), ("sv/a.md", "und")),
    ):
        assert _without_language([name], code) == ["a md"]
    assert _without_language(["en/it.txt", "en/hr.txt"], "de") == ["it txt", "hr txt"]
    assert _without_language(["en/it.txt"], "en") == ["it txt"]
    for side, text in (("en", "Opening hours\nContact us\n"), ("zh", "营业时间\n联系我们\n")):
        (tmp_path / side).mkdir()
        (tmp_path / side / f"hours_{side}.txt").write_text(text, encoding="utf-8")
        (tmp_path / side / f"other-{side}{len(text)}.txt").write_text("One\n", encoding="utf-8")
    (found,) = [x for x in pair_documents(tmp_path / "en", tmp_path / "zh") if "hours" in x.source]
    assert found.target.endswith("hours_zh.txt")
    assert found.prob >= 0.9


def test_documents_of_a_column_help_mining(site: Path, tmp_path: Path) -> None:
    for side in ("en", "zh"):
        rows = [
            f"{page.stem}\t{line}\n"
            for page in sorted((site / side).iterdir())
            for line in page.read_text(encoding="utf-8").splitlines()
        ]
        (tmp_path / f"{side}.tsv").write_text("".join(rows), encoding="utf-8")
    given = tmp_path / "en.tsv", tmp_path / "zh.tsv"
    inputs = f"{given[0]}:2", f"{given[1]}:2"
    plain = mine(*inputs, options=MiningOptions(documents="off"))
    helped = mine(*inputs, options=MiningOptions(documents="1"))
    for path in given:  # lines that are in no document
        path.write_text(re.sub(r"(?m)^\w*[0127]\t", "\t", path.read_text()), encoding="utf-8")
    found = pair_documents(*inputs, options=MiningOptions(documents="1"))
    assert all(pair.source and pair.target for pair in found)
    blank = mine(*inputs, options=MiningOptions(documents="1")).candidates.chosen
    assert blank.evidence is not None
    assert (blank.evidence == 0).any()
    by_files = mine(site / "en", site / "zh", options=MiningOptions(documents="auto"))
    assert list(helped.pairs.sources) == list(by_files.pairs.sources)
    assert helped.confidence is not None
    assert plain.confidence is not None
    assert len(helped.pairs) == 30 >= len(plain.pairs)
    with pytest.raises(XmineError, match="no table, so there is no column '1'"):
        mine(inputs[0], site / "zh" / "page7.txt", options=MiningOptions(documents="1"))


def test_names_do_not_count_where_sentences_speak_against_them(site: Path, tmp_path: Path) -> None:
    for at, number in enumerate((7, 8, 9)):  # names that agree, in another order
        for side, name in (("en", f"{(at + 1) % 3}.txt"), ("zh", f"page{number}.txt")):
            (tmp_path / side).mkdir(exist_ok=True)
            text = (site / side / name).read_bytes()
            (tmp_path / side / f"part{at}.txt").write_bytes(text)
    found = pair_documents(tmp_path / "en", tmp_path / "zh")
    stems = {(Path(each.source).stem, Path(each.target).stem) for each in found}
    assert stems == {("part0", "part1"), ("part1", "part2"), ("part2", "part0")}


ENGLISH = (
    "The ferry leaves at noon.",
    "She keeps bees behind the library.",
    "Nobody has paid for the tea.",
    "The lift is out of order again.",
    "My father taught me a trick with cards.",
    "The bridge was built by prisoners.",
    "It rained for three days.",
    "He sold his shoes to buy bread.",
)
GERMAN = (
    "Die Fähre fährt mittags ab.",
    "Sie hält hinter der Bücherei Bienen.",
    "Niemand hat den Tee bezahlt.",
    "Der Aufzug ist schon wieder kaputt.",
    "Mein Vater brachte mir einen Kartentrick bei.",
    "Die Brücke wurde von Gefangenen gebaut.",
    "Es regnete drei Tage lang.",
    "Er verkaufte seine Schuhe, um Brot zu kaufen.",
)


def write(folder: Path, documents: dict[str, list[str]]) -> str:
    folder.mkdir()
    for name, lines in documents.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder)


def test_documents_of_one_name_without_a_translation_are_no_pair(
    tmp_path: Path, command: Command
) -> None:
    given = [
        write(tmp_path / "en", {"a.txt": list(ENGLISH[:3]), "it.txt": list(ENGLISH[3:5])}),
        write(
            tmp_path / "de", {"a.txt": list(GERMAN[5:]), "hr.txt": ["Im Hof steht ein Brunnen."]}
        ),
    ]
    done = command("documents", *given, "--align", "beads.tsv")
    assert "0 pairs of documents" in done.err and "0 beads" in done.err
    every = command("documents", *given, "--align", "b.tsv", "--min-prob", "0").err
    precision = re.search(r"expected precision ([\d.]+)", every)
    assert precision is None or float(precision[1]) < 0.5
    same = command("documents", given[0], given[0]).err
    assert "the same text; translations need another language" in same


def test_versions_of_a_document_hold_the_same_sentences(tmp_path: Path) -> None:
    """Each sentence is mined once, and counts for every document that holds it."""
    one, other = list(ENGLISH), list(GERMAN)
    given = [
        write(tmp_path / "en", {"0-print.txt": one, "0.txt": one, "x.txt": ["Something else."]}),
        write(tmp_path / "de", {"a-old.txt": other[:5], "a.txt": other, "z.txt": ["Nichts."]}),
    ]
    found = pair_documents(given[0], given[1])
    best = [each for each in found if Path(each.target).stem == "a"]
    assert [Path(each.source).stem for each in best] in (["0"], ["0-print"])
    assert best[0].prob > 0.9 and best[0].sentences == pytest.approx(8, abs=0.5)
    assert (best[0].source_sentences, best[0].target_sentences) == (8, 8)
