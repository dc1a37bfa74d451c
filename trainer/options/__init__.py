"""Options of training, shared and per method, declared once as frozen dataclasses.

Nothing here imports torch or numpy.
"""
