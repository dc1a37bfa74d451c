"""Files of pairs in and out, one file per format; labelled pairs, gold pairs and statistics.

Nothing here scores or flags a pair.
"""
