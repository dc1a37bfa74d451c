"""The protocols that published figures of BUCC follow, by name: what each fixes.

LASER: facebookresearch/LASER tasks/bucc. st: the example bucc2018.py of sentence-transformers.
xtreme: Hu et al. (2020). msimcse: Wang et al. (2022), whose code scores XTREME's `dev`. moco: dual
momentum contrast (Wang et al., 2021, eq. 4 and 3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xmine.evaluation.options import BuccOptions
from xmine.evaluation.readers.bucc import SPLITS, BuccFolder
from xmine.options import flag


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a protocol fixes."""

    margin: str = "ratio"  # as in MiningOptions
    neighborhood: int = 4
    retrieval: str = "max"
    # `folded` to the first line that repeats, as mining does; `kept`; or `dropped`, as LASER has
    # it: the same texts are searched once, and no pair with one of them counts
    duplicates: str = "folded"
    # `training` or `sample`: on the gold pairs of that split; `hash`: on one half of the ids;
    # `oracle`: on the pairs that are measured; nothing: what the files allow
    threshold_from: str = ""
    # the one that is measured where the threshold is from `hash` or `oracle`; nothing: test, or
    # else training, or else the sample
    split: str = ""
    lowest: float | None = None  # pairs with a lower ratio are no candidates


PROTOCOLS: Mapping[str, Protocol] = {
    "heldout": Protocol(),
    "laser": Protocol(duplicates="dropped", threshold_from="training", split="training"),
    "st": Protocol(duplicates="kept", threshold_from="oracle", split="training", lowest=1.0),
    "xtreme": Protocol(duplicates="dropped", threshold_from="sample", split="training"),
    "msimcse": Protocol(duplicates="kept", threshold_from="oracle", split="sample"),
    "moco": Protocol(margin="distance", neighborhood=3, duplicates="kept"),
}
_DUPLICATES = {
    "folded": "repeated lines folded to the first",
    "kept": "repeated texts kept",
    "dropped": "repeated texts searched once and never counted",
}


def settle_protocol(options: BuccOptions, folder: BuccFolder) -> Protocol:
    """Apply the options to a protocol; decide by the files what is open: threshold and split."""
    known = PROTOCOLS[options.protocol]
    chosen = replace(
        known,
        margin=options.margin or known.margin,
        neighborhood=options.neighborhood or known.neighborhood,
        retrieval=options.retrieval or known.retrieval,
        threshold_from=options.threshold_from or known.threshold_from,
    )
    if chosen.margin != "ratio":
        chosen = replace(chosen, lowest=None)
    wish = f"--protocol {options.protocol}"
    source = chosen.threshold_from
    if not source:
        source = "training" if folder.has("training") and folder.has("test") else "hash"
    if source == "training":
        folder.need("training", wish)
        # LASER's own figures on training are in hindsight; the test pairs went to the organisers
        if options.protocol == "laser" and not options.threshold_from and not folder.has("test"):
            return replace(chosen, threshold_from="oracle", split="training")
        folder.need("test", "--threshold-from training")
        return replace(chosen, threshold_from=source, split="test")
    there = [split for split in reversed(SPLITS) if folder.has(split)]
    split = chosen.split or (there[0] if there else "sample")
    if source == "sample":
        folder.need("sample", wish)
    folder.need(split, wish)
    return replace(chosen, threshold_from=source, split=split)


def protocol_in_words(options: BuccOptions, protocol: Protocol) -> str:
    """Say in a sentence what a protocol was, with what the options changed of it."""
    given = {
        "margin": options.margin,
        "neighborhood": options.neighborhood,
        "retrieval": options.retrieval,
        "threshold_from": options.threshold_from,
    }
    changed = [f"{flag(name)} {value}" for name, value in given.items() if value]
    name = options.protocol + (f", but {' '.join(changed)}" if changed else "")
    source = {
        "oracle": f"F1 on {protocol.split} at the threshold that is best for its own gold pairs",
        "hash": f"F1 on one half of the ids of {protocol.split}, threshold from the other half",
    }.get(
        protocol.threshold_from,
        f"F1 on {protocol.split}, threshold from the gold pairs of {protocol.threshold_from}",
    )
    lowest = "" if protocol.lowest is None else f", no score below {protocol.lowest:g}"
    means = "" if protocol.margin == "absolute" else f", k = {protocol.neighborhood}"
    return (
        f"{name}: {source}; {protocol.margin} margin{means}, {protocol.retrieval} retrieval, "
        f"{_DUPLICATES[protocol.duplicates]}{lowest}"
    )
