"""What is trained: static and transformer towers, new transformers, heads, momentum copies, queues.

Nothing here knows a method or a training run.
"""
