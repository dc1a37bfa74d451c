"""Files of benchmarks, as they are distributed -> texts with their answers.

Nothing here encodes or measures.
"""
