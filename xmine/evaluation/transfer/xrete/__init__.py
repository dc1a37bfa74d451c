"""The tasks of XRETE (Emma-X): their files -> tasks to learn, and the table of their figures.

Nothing here learns a task.
"""
