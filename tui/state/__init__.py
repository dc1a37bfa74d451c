"""State that the app keeps between starts: recent runs, settings.

Nothing here imports Textual.
"""
