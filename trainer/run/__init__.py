"""A training run: preparation, loop, schedules, checkpoints, held-out pairs, figures and card.

Nothing here knows a method; methods call what stands here.
"""
