"""Files of benchmarks, as they are distributed -> texts with their answers; one file a data set.

Nothing here encodes or measures.
"""
