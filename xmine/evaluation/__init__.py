"""Benchmarks: an encoder and a data set -> figures, by the protocols of the papers.

Nothing here trains an encoder; fine-tuning is in `xmine.trainer`.
"""
