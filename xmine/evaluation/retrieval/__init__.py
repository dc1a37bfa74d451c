"""Benchmarks that retrieve translations: Tatoeba, BUCC, xsim, bitext files.

Nothing here reads similarity ratings or trains a classifier.
"""
