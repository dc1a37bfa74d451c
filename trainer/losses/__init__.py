"""Losses as the papers write them, of tensors. Nothing here knows an encoder or a text."""
