"""The trunk: texts -> sentences, vectors, neighbours, margin scores, probabilities, flags, pairs.

Each step is a function of another package; nothing here computes a score or reads a format itself.
"""
