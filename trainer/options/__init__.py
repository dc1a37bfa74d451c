"""Options of training as frozen dataclasses: a file per method; `shared` and `queue` for several.

Options and the values that follow from options alone; nothing here reads a file, torch or numpy.
"""
