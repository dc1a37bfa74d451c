"""Options dataclasses -> fields of a form, and a filled form -> the command it stands for.

Nothing here imports Textual.
"""
