"""What makes a pair suspicious: one rule per flag, and the features of lines the rules read.

Nothing here removes a pair; selection is in `xmine.mining`.
"""
