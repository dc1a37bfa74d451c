"""The terminal app without a terminal: open a run, query, neighbours, the cut, labels of pairs.

Nothing here draws or imports Textual; `xmine.tui` and `xmine pairs` show what stands here.
"""
