"""Semantic ranks and virtual examples of Emma-X: rank networks, their step and their monitor.

Nothing here trains the encoder; that is `xmine.trainer.methods.emma_x`.
"""
