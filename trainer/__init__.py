"""Train aligned sentence encoders: one file per method in `methods/`, what they share beside it.

The folder stands at the top of the repository and installs as `xmine.trainer`.
"""

if __name__ != "xmine.trainer":
    raise ImportError("import xmine.trainer; the folder trainer/ is not a package of its own")
