"""Widgets that screens share: tables, pair details, forms, paths, curves.

Nothing here knows a screen or the app.
"""
