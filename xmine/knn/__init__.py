"""Two matrices of unit vectors -> the nearest rows both ways, by exact search or IVF.

Nothing here knows sentences, margins or pairs.
"""
