# %% [markdown]
# # Mine, judge, mine again: the tutorial in Python
#
# Two text files, a sentence per line, become pairs. Nothing is downloaded: the encoder is part of
# the package. `python docs/notebook.py` makes the notebook of `examples/tutorial.py`.
# %%
from pathlib import Path

import xmine

folder = Path("first")  # what this notebook writes
folder.mkdir(exist_ok=True)
# %% [markdown]
# ## 1. Mine
#
# `en.txt` has 375 lines, `zh.txt` 389, in no common order. The options of `help(xmine.mine)` are
# those of the command; `progress=True` draws a bar below the cell.
# %%
mined = xmine.mine("en.txt", "zh.txt", progress=True)
mined
# %% [markdown]
# xmine chose the threshold itself. A result is a sequence of pairs, with a report:
# %%
print(mined.report())
best = mined[0]
best.source, best.target, best.prob
# %% [markdown]
# and a table of polars; this part of it is what deserves a look.
# %%
table = mined.to_polars()
table.filter(table["flags"] != "").select("prob", "flags", "source", "target")
# %% [markdown]
# ## 2. Mine into a folder, and look at doubtful pairs
#
# The folder keeps all candidates, kept or not, and goes on after a kill. `where` takes what
# `xmine pairs list --where` takes, and `xmine browse first/run` opens the folder in a terminal.
# %%
xmine.mine("en.txt", "zh.txt", run=folder / "run")
run = xmine.open_run(folder / "run")
doubtful = run.where("prob BETWEEN 0.3 AND 0.8")
doubtful.select("prob", "source_line", "target_line", "source", "target")
# %% [markdown]
# ## 3. Judge
#
# Line 235 says something else than line 230; 320 and 110 are translations.
# %%
run.judge(235, 230, "reject")
run.judge(320, 110, "accept")
# %% [markdown]
# ## 4. Mine again with what you know
#
# Accepted pairs are kept, rejected pairs never come back, and both correct all probabilities.
# %%
better = xmine.mine("en.txt", "zh.txt", seed_pairs=folder / "run")
len(mined), len(better)
# %% [markdown]
# ## 5. Take the pairs along
# %%
sure = [pair for pair in better if pair.prob and pair.prob > 0.9]
xmine.write_pairs(sure, folder / "sure.tmx", languages=("en", "zh"))
# %% [markdown]
# ## 6. Search, and score pairs that exist
#
# The nearest sentences of a text, in either language:
# %%
xmine.search("When does the last cable car leave?", "zh.txt", k=2)
# %% [markdown]
# Pairs that exist already get scores, probabilities and flags: here the numbers differ.
# %%
scored = xmine.score(["She has 3 cats.", "The shop is closed."], ["她有四只猫。", "商店关门了。"])
[(pair.flags, pair.cosine) for pair in scored]
# %% [markdown]
# `xmine.train("pairs.tsv", output="encoder/")` makes an encoder of pairs, and
# `xmine.mine(..., "encoder/")` uses it.
