"""Options of training as frozen dataclasses: `shared` by all methods, `contrast`, and a file per method.

Options and the values that follow from options alone; nothing here reads a file, torch or numpy.
"""
