"""Looking at pairs, without a screen: what the terminal app shows and `xmine pairs` prints.

`opened` reads a run or a file of pairs, `query` says which of its pairs to see and in which order,
`view` holds that choice together with the cut and the judgements.
"""
