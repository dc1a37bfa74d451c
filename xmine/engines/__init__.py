"""Where tasks run: here, or on a Ray cluster. A task is a call that makes files.

Nothing here knows sentences, vectors or runs.
"""
