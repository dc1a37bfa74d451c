"""Everything measured, in one report; results -> one table with intervals and published figures.

No benchmark is defined here.
"""
