"""Text inputs -> lines and sentences with exact line numbers; hashing, segmentation, languages.

Nothing here encodes, scores or writes a result.
"""
