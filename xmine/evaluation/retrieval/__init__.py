"""Benchmarks that retrieve translations: Tatoeba, BUCC, xsim, xsim++, bitext files, ranking.

Nothing here reads similarity ratings or trains a classifier.
"""
