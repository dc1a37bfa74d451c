"""What people say of pairs: their labels, samples of pairs to judge, and what all of it says.

It stands on `xmine.browsing`, which knows nothing of labels; nothing here draws.
"""
