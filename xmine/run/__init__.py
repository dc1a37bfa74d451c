"""A mining run on disk: configuration, finished stages, tables, and how a killed run resumes.

Nothing here computes a stage; that is `xmine.mining`.
"""
