"""xmine loads again, and mines, once the calls of POSIX are gone, as they are on Windows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import MODULES

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples/en.txt", ROOT / "examples/zh.txt"
SCRIPT = """
import asyncio, errno, importlib, os, pathlib, signal, sys, sysconfig, types
import multiprocessing.synchronize, multiprocessing.popen_spawn_posix, concurrent.futures.process
import textual.drivers.headless_driver

def load_all():
    for name in NAMES:
        importlib.import_module(name)

NAMES = sys.argv.pop(1).split()
sysconfig.get_config_vars()
load_all()
for name in [name for name in sys.modules if name.split(".")[0] == "xmine"]:
    del sys.modules[name]
for name in ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp"):
    sys.modules[name] = None
for module, names in (
    (signal, "SIGHUP SIGKILL SIGALRM SIGUSR1 SIGUSR2 SIGQUIT SIGTSTP SIGCONT SIGWINCH setitimer"),
    (os, "fork killpg getpriority setpriority pread pwrite posix_fallocate sched_getaffinity"),
    (os, "geteuid getuid getgid mkfifo nice setsid"),
):
    for name in names.split():
        delattr(module, name)
locked = []
sys.modules["msvcrt"] = types.SimpleNamespace(
    LK_NBLCK=2, locking=lambda handle, *_: locked.append(handle)
)
sys.modules["textual.drivers.windows_driver"] = types.SimpleNamespace(
    WindowsDriver=textual.drivers.headless_driver.HeadlessDriver
)
os.O_BINARY = 0
sys.platform = "win32"
load_all()

from xmine.tui.app import XmineApp
from xmine.cli import run
sys.argv = ["xmine", "mine", *sys.argv[1:], "-o", "run/", "-q"]
try:
    run()
except SystemExit as ended:
    assert ended.code == 0 and locked, (ended.code, locked)

async def judge():
    app = XmineApp(pathlib.Path("run"))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause(2)
        await pilot.press("a")
        await pilot.pause(0.5)
asyncio.run(judge())
assert pathlib.Path("run/judgements.tsv").read_text(encoding="utf-8").count("accept") == 1
"""


@pytest.mark.slow
def test_every_module_loads_and_the_examples_are_mined_without_posix(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, " ".join({*MODULES} - {"xmine.__main__"}), *EXAMPLES],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "XMINE_STATE": str(tmp_path), "XMINE_JUDGE": "me"},
        stderr=subprocess.PIPE,
    )
    assert ended.returncode == 0, ended.stderr.decode()[-3000:]
