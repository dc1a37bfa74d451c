"""Benchmarks that train a classifier on vectors: SentEval, sentence pairs, XRETE.

Nothing here changes the encoder; fine-tuning is in `xmine.trainer.finetune`.
"""
