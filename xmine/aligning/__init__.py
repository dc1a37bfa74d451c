"""Two versions of one document, in order -> beads of lines, with probabilities.

Nothing here looks for lines out of order: that is mining.
"""
