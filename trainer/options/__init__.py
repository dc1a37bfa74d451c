"""Options of training as frozen dataclasses: those of all, of contrast, of each method.

Options and the values that follow from options alone; nothing here reads a file, torch or numpy.
"""
