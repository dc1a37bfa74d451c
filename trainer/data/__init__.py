"""Training data: corpora of pairs and texts, tokenized rows, batches, vocabularies.

Nothing here knows a model or a loss.
"""
