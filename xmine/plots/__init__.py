"""Drawings: histograms in the terminal, figures and maps as pictures.

Nothing here measures what it draws.
"""
