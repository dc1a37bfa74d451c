"""A mining run on disk: `run.toml`, steps and what runs their tasks, tables.

Nothing here says what a step computes; that is `xmine.mining`.
"""
