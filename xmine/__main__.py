"""The command `xmine`, and python -m xmine."""

import sys


def main() -> None:
    """Run the command; Ctrl-C while its modules load ends it as later on."""
    try:
        from xmine.cli import run
    except KeyboardInterrupt:
        sys.stderr.write("xmine: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
