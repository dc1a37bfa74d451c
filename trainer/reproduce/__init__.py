"""Tables of papers -> our figures beside theirs: encoders trained, measured, and told.

The tables themselves are in `xmine.evaluation.papers`. Nothing here knows a method.
"""
