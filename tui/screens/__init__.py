"""The screens of the app, one file each, and the classes they share.

A screen shows what `xmine.browsing` finds; nothing here queries, scores or writes pairs itself.
"""
