"""Corpora, tokenized rows, batches, vocabularies. Nothing here knows a model or a loss."""
