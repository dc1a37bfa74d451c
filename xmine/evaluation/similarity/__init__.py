"""Benchmarks that compare cosines with ratings of people: STS, XSTS, quality estimation.

Nothing here retrieves or trains a classifier.
"""
