"""The pairs just above and just below a cut, in one table."""

import numpy as np

from xmine.browsing.cuts import Cuts
from xmine.browsing.opened import Opened
from xmine.judging.judgements import Judgements

from ..key_table import bound
from .pair_table import PairTable

_NEAR = 20  # pairs on each side of the cut


class NearTable(PairTable):
    """The pairs around the cut. Left and right move the cut: every column can be seen."""

    BINDINGS = bound(
        "far-left far-right", left="screen.move(-1): Lower", right="screen.move(1): Raise"
    )

    def __init__(self, opened: Opened, judgements: Judgements, *, id: str) -> None:
        """Begin without pairs: they have to be sorted first."""
        super().__init__(opened, np.zeros(0, np.int64), judgements, id=id)
        self.pairs.cut = 0.0
        self._above = 0  # so many pairs

    def show_near(self, cuts: Cuts, cut: float) -> None:
        """Show the pairs around a cut, which stands in the middle of the table."""
        above, below = cuts.near(cut, _NEAR)
        self.pairs.cut = cut
        self.show(np.concatenate([above, below]), keep=False)
        self.move_cursor(row=max(len(above) - 1, 0))
        self._above = len(above)
        self.call_after_refresh(self._put_in_the_middle)

    def on_resize(self) -> None:  # that of every table comes after this one
        if self.cursor_row == max(self._above - 1, 0):
            self.call_after_refresh(self._put_in_the_middle)

    def _put_in_the_middle(self) -> None:
        rows = self.size.height - self.header_height
        self.scroll_to(y=max(self._above - (rows + 1) // 2, 0), animate=False, force=True)
