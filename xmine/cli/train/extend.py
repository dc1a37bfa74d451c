"""xmine train --extend: pairs with a language -> a pack, by which an encoder reads it as well."""

import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import FORCE, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoder
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import OptionError
from xmine.extras import TRAINING, needs
from xmine.files.suffixes import PAIR_SUFFIXES
from xmine.options import EncodingOptions
from xmine.trainer.options.extend import ExtendOptions

_PAIRS = f"Pairs: {PAIR_SUFFIXES}, corpus.en,corpus.el, or a run folder; - for TSV on stdin."


@with_flags
def extend(
    options: ExtendOptions,
    console: Console,
    pairs: Annotated[list[str], typer.Argument(metavar="PAIRS...", help=_PAIRS)],
    output: Annotated[Path, value(names="-o --output", group="Most used")],
    extend: Annotated[str, value(group="Most used", shown=True)] = "embedded",
    force: FORCE = False,
) -> None:
    """Teach a static encoder one more language, which it then reads with a pack.

    One side of the pairs is in a language of the encoder, best English. The encoder stays as it is.

    Example: xmine train --extend embedded pairs.tsv -o el.pack

    Args:
        extend: The encoder, a folder or embedded.
        output: File for the pack, .pack; or a folder for the encoder and its packs.
    """
    needs("xmine train --extend", *TRAINING)
    from xmine.encoders.packs import SUFFIX
    from xmine.files.atomic import check_free
    from xmine.files.scratch import temporary_folder
    from xmine.pairs.io import read_parallel
    from xmine.text.languages import language_name
    from xmine.trainer.extend import extend as learn

    is_pack = output.suffix == SUFFIX
    if output.suffix and not is_pack:
        raise OptionError(f"-o {output}: unknown format", f"end it in {SUFFIX}, or name a folder")
    check_free(output, force=force, folder=not is_pack)
    encoder, given = load_encoder(extend, EncodingOptions(), console), read_parallel(*pairs)
    origins = dict(Counter(filter(None, given.origins))) or [Path(each).name for each in pairs]
    with console.progress() as report:
        pack = learn(encoder, given, options, report, {"sources": origins})
    code, facts = pack.facts["language"], pack.facts
    model = [] if extend == "embedded" else ["--model", extend]
    with temporary_folder() as folder:
        made = output if is_pack else folder / f"{code}{SUFFIX}"
        pack.write(made)
        size = made.stat().st_size
        if not is_pack:
            replace(encoder, packs={**encoder.packs, code: made}).save(output)
            model = ["--model", f"{output}/"]
    console.summary(
        f"{output}: {language_name(code)} ({code}) from {count(facts['pairs'], 'pair')}; of some "
        f"held out {facts['before']:.1%} -> {facts['after']:.1%} retrieved; a pack of "
        f"{size / 1e6:.1f} MB, {console.seconds:.1f} s",
        {"output": str(output), **facts, "bytes": size, "seconds": round(console.seconds, 1)},
    )
    mine = shlex.join(["xmine", "mine", f"{code}.txt", "en.txt", *model])
    add = f"{shlex.join(['xmine', 'model', 'add', str(output), *model])} && " if is_pack else ""
    console.say(f"next: {add}{mine}", one_line=True)
