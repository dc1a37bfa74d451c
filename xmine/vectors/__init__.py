"""Sentences -> vectors and tokens in files of steps; vectors that the user has.

Nothing here compares vectors; that is `xmine.knn`.
"""
