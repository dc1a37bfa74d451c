"""Look at pairs in a terminal: one file per screen in `screens/`, what they share in `widgets/`.

The folder stands at the top of the repository and installs as `xmine.tui`.
"""

if __name__ != "xmine.tui":
    raise ImportError("import xmine.tui; the folder tui/ is not a package of its own")
