"""Help of a command with many options, in groups: which option belongs where, and their order."""

from collections.abc import Mapping
from typing import Any, ClassVar

import typer.core

_GENERAL = "Options"
MINING = {
    "What to keep": "threshold min_prob precision top score_max drop keep_copies",
    "How pairs are found": "neighborhood margin retrieval dedup segment",
    "Files": "output force gold seed_pairs hubs plot plot_file options src_lang tgt_lang",
    "Encoder": "model src_prompt tgt_prompt max_length src_vectors tgt_vectors dim",
    "Speed and memory": "dry_run max_memory cache index recall device dtype batch_size",
}
TRAINING = {
    "What it learns from": "triplets nli texts languages source_weight default_weight exclude "
    "limit_pairs held_out",
    "The method": "method",
    "Files": "output force resume options dev",
    "The new encoder": "encoder architecture width layers heads max_pieces dropout start pooling "
    "vocabulary_size vocabulary_sample",
    "How it learns": "epochs steps batch_size learning_rate schedule warmup weight_decay clip "
    "piece_dropout near_batches evaluate_every seed",
    "Speed and memory": "dry_run device dtype threads pieces_at_once recompute logit_rows",
    _GENERAL: "quiet verbose as_json debug help",
}


class Mining(typer.core.TyperCommand):
    """A command that shows its options in groups; what is in none comes last."""

    groups: ClassVar[Mapping[str, str]] = MINING
    rest: ClassVar[str] = _GENERAL

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        """Write arguments, then groups."""
        group_of = {name: title for title, names in self.groups.items() for name in names.split()}
        shown: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        shown |= {title: [] for title in (*self.groups, self.rest)}
        for parameter in self.get_params(ctx):
            if row := parameter.get_help_record(ctx):
                is_argument = parameter.param_type_name == "argument"
                title = group_of.get(parameter.name or "", self.rest)
                shown["Arguments" if is_argument else title].append(row)
        for title, rows in shown.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Training(Mining):
    """The same of a command that trains; what is in no group belongs to the method."""

    groups = TRAINING
    rest = "The method"
