"""Sentences -> unit vectors: find an encoder in a folder or on the hub, load, encode and save.

Nothing here reads text files; only the modules that need torch load torch.
"""
