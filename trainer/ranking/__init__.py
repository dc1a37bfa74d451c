"""Semantic ranks and virtual examples of Emma-X. The method trains by them."""
