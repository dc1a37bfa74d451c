"""Vectors on disk: `.npy` and raw files, blocks that resume, and the cache by content.

Nothing here compares vectors; that is `xmine.knn`.
"""
