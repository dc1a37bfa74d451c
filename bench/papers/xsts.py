"""Semantic textual similarity in other languages and across two: does the cosine rank as people do?

SemEval-2017's tracks (Cer et al., 2017), the pairs with English that Reimers & Gurevych (2020)
added, which together are Emma-X's ten, and STS-B with its translations crossed (stsb-multi-mt).
"""

from dataclasses import replace

from papers.correlations import correlate_sets
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.readers import scored_pairs as readers
from xmine.evaluation.readers.scored_pairs import ScoredPairs, read_stsb
from xmine.evaluation.result import Metric, Result, mean_row, paper_means
from xmine.evaluation.similarity.correlation import UNTRAINED, blank_note, spearman
from xmine.progress import Report, silent

# Row -> what its files are called. 4b comes from translations with their quality judged, is far
# harder than 4a, and no published average holds it.
TRACKS = {
    "ar-ar": "track1.ar-ar",
    "ar-en": "track2.ar-en",
    "es-es": "track3.es-es",
    "es-en": "track4a.es-en",
    "es-en 4b": "track4b.es-en",
    "en-en": "track5.en-en",
    "tr-en": "track6.tr-en",
}
ADDED = {"de-en": "en-de", "fr-en": "fr-en", "it-en": "it-en", "nl-en": "nl-en"}
# The six tracks lie beside them, in case the folder of SemEval is not there.
REPEATED = {name: name for name in ("ar-ar", "es-es", "es-en", "en-en")} | {
    "ar-en": "en-ar",
    "tr-en": "en-tr",
}
# Row -> the languages of the first texts and of the second.
_ORDER = REPEATED | ADDED | {"es-en 4b": "en-es"}
MEANS = {
    "mean of 10 (Emma-X)": (*REPEATED, *ADDED),
    "mean of 5 (mSimCSE)": ("ar-ar", "ar-en", "es-es", "es-en", "tr-en"),
}
_SPEARMAN = Metric("spearman", "Spearman", "rank correlation of cosine and people's scores")
_WHAT = (
    "sts17/STS2017.eval.v1.1/STS.input.track*.txt and sts17/STS2017.gs, "
    "sts17/STS2017-extended/STS.*.txt, or stsb/stsb-en-test.csv with other languages"
)


def evaluate_xsts(
    encoder: Encoders, data: DataFolder, options: EvaluationOptions, report: Report = silent
) -> Result:
    """Measure Spearman's correlation on each track and each pair of languages there is."""
    tracks, stsb = read_tracks(data), read_crossed(data)
    if not tracks and not stsb:
        raise data.missing(_WHAT)
    rows, blank = correlate_sets(spearman, encoder, tracks | stsb, report, options.prompt)
    means, notes = paper_means(MEANS, rows)
    sides = {name: name.removeprefix("STS-B ").split("-") for name in stsb}
    across = [row for row in rows if row.name in sides and len(set(sides[row.name])) > 1]
    means += [mean_row(f"STS-B crossed, mean of {len(across)}", across)] if across else []
    # The ten languages of Emma-X, or translations of one set: five are of few languages.
    names = [row.name for row in (*means, rows[0])]
    of_many = (
        name for x in ("mean of 10", "STS-B crossed") for name in names if name.startswith(x)
    )
    return Result(
        benchmark="xsts",
        protocol="Spearman of the cosine against people's scores, no training",
        split=", ".join(
            name for name, found in (("STS 2017", tracks), ("STS-B test", stsb)) if found
        ),
        metrics=(_SPEARMAN,),
        rows=[*rows, *means],
        headline=(next(of_many, names[0]), "spearman"),
        settings={**UNTRAINED, "correlation": "spearman"},
        unit="pairs",
        notes=[*blank_note(blank), *(notes if tracks else [])],
    )


def read_tracks(data: DataFolder) -> dict[str, ScoredPairs]:
    """Read SemEval-2017's tracks and those added to them: name of the row -> pairs."""
    found = {}
    folder = data.find("STS2017.eval.v1.1/STS.input.track*.txt", ("sts17", ""))
    if folder:
        texts = [f"STS2017.eval.v1.1/STS.input.{name}.txt" for name in TRACKS.values()]
        scores = [f"STS2017.gs/STS.gs.{name}.txt" for name in TRACKS.values()]
        incomplete(folder, texts + scores, "SemEval-2017 with its gold scores")
        for row, text, score in zip(TRACKS, texts, scores, strict=True):
            # Of the 500 pairs of track 6 as distributed, the first 250 have scores.
            found[row] = readers.read_score_apart(
                folder / text, folder / score, fewer_scores=row == "tr-en"
            )
    folder = data.find("STS2017-extended/STS.*.txt", ("sts17", ""))
    if folder:
        names = ADDED if found else REPEATED | ADDED
        files = {row: f"STS2017-extended/STS.{name}.txt" for row, name in names.items()}
        incomplete(folder, list(files.values()), "STS2017-extended")
        found |= {
            row: readers.read_score_first(folder / name, (0, 1, 2)) for row, name in files.items()
        }
    orders = {row: _ORDER[row].split("-") for row in found}
    return {row: replace(found[row], languages=(x, y)) for row, (x, y) in orders.items()}


def read_crossed(data: DataFolder) -> dict[str, ScoredPairs]:
    """Read STS-B's test set in English and other languages, and cross them line by line.

    `STS-B en-en`, and for each other language xx: both texts in it, and one of each language both
    ways. Nothing if there is English alone.
    """
    folder = data.find("stsb-en-test.csv", ("stsb", "stsb-multi-mt/data", "data"))
    names = sorted(path.name for path in folder.glob("stsb-*-test.csv")) if folder else []
    if folder is None or len(names) < 2:
        return {}
    english = read_stsb(folder / "stsb-en-test.csv")
    found = {"STS-B en-en": english}
    for name in names:
        language = name.split("-")[1]
        if language == "en":
            continue
        other = read_stsb(folder / name)
        if other.gold.tolist() != english.gold.tolist():
            raise FileError(
                f"{other.name}: its scores are not those of {english.name}",
                "line N of one has to be the translation of line N of the other",
            )
        other = replace(other, languages=(language, language))
        found[f"STS-B {language}-{language}"] = other
        for one, two, name in (
            (english, other, f"en-{language}"),
            (other, english, f"{language}-en"),
        ):
            files = f"{one.name} × {two.name}"
            crossed = one.languages[0], two.languages[1]
            found[f"STS-B {name}"] = ScoredPairs(files, one.first, two.second, one.gold, crossed)
    return found
