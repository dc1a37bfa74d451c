"""Preparation, loop, checkpoints, measures and card of a run. Nothing here knows a method."""
