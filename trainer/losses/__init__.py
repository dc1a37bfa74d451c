"""Losses as the papers write them: contrastive, with a queue, over classes of inference.

Each takes tensors and returns a number; nothing here knows an encoder or a batch of text.
"""
