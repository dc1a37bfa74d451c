"""xmine completion: the script with which a shell completes words of xmine."""

from typing import Annotated, Literal

import typer
from typer._completion_shared import get_completion_script


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell"],
        typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell."),
    ],
) -> None:
    """Print the script that completes words of xmine in a shell.

    Shells run it as they start: eval "$(xmine completion bash)" in ~/.bashrc, or of zsh in ~/.zshrc
    behind compinit; xmine completion fish > ~/.config/fish/completions/xmine.fish; xmine completion
    powershell >> $PROFILE.

    Example: xmine completion bash
    """
    print(get_completion_script(prog_name="xmine", complete_var="_XMINE_COMPLETE", shell=shell))
