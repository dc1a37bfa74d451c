"""The names of the flags, for options and help, without numpy."""

# What makes a pair suspicious (xmine/flags/rules.py), in the order of the column.
FLAGS = (
    *("hub", "copy", "near-copy", "language", "length", "partial"),
    *("number", "negation", "high", "duplicate", "markup", "garbled", "placeholder"),
)
