"""The tables of the four papers: how each row is made and measured, and what the paper printed.

`bench/papers` makes the rows; `xmine eval report` shows what was printed. Nothing here measures.
"""
