"""Options of adapting the encoder of a mining run; no torch here."""

from dataclasses import dataclass

from xmine.options import Options, option

FEWEST = 500  # pairs: fewer teach an encoder nothing
ADAPTERS = ("msimcse", "moco", "transaug", "emma-x")


@dataclass(frozen=True, kw_only=True)
class AdaptOptions(Options):
    """How the encoder of a mining run is adapted."""

    rounds: int = option(
        1, "Rounds of training and mining; fewer if no confident pair is new.", "Most used", min=1
    )
    method: str = option("msimcse", "Training method.", "Most used", choices=ADAPTERS)
    confidence: float = option(
        0.9, "Lowest probability of the pairs to train on.", "Quality", min=0.5, max=1.0
    )
    epochs: int = option(10, "Passes through the pairs in each round.", "Quality", min=1)
    seed: int = option(1, "Seed of all random numbers.", "Advanced", min=0, max=2**63 - 1)
    device: str = option(
        "auto", "Where training runs: auto, cpu, cuda, or cuda:1 and so on.", "Speed and memory"
    )
    threads: int = option(0, "CPU threads; 0: OMP_NUM_THREADS, or all.", "Speed and memory", min=0)
