"""What the app remembers between starts: recent runs, settings, curves of training.

Nothing here imports Textual.
"""
