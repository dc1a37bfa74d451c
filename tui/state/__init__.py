"""State that the app keeps between starts: recent runs, settings, curves of training.

Nothing here imports Textual.
"""
