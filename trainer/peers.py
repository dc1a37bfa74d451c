"""Processes that `torchrun` started: where they meet, which is gone, which tells of an error."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from torch import distributed
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from xmine.errors import TrainingError, XmineError

_LOST = (
    "another process stopped",
    "its message, or that of torchrun, says why; --resume auto goes on from the last checkpoint",
)


class PeerLost(TrainingError):
    """Another process of those that train together is gone."""


@contextmanager
def among_peers() -> Iterator[None]:
    """Say in our words that a process which a call of all processes needs is gone."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, distributed.DistError) or "gloo" in str(error):
            raise PeerLost(*_LOST) from error
        raise


@cache
def meeting_place() -> tuple[Store, int, int]:
    """Meet the other processes: the store they share, the rank of this one, and how many they are.

    torchrun keeps its store when it starts the processes again, and gloo would find the addresses
    of those that are gone. So the first process calls, the others answer, and what is stored is
    stored under the name of the call.
    """
    store, rank, size = _of_torchrun()
    own = secrets.token_hex(8)
    if rank == 0:
        store.set("xmine: call", own)
        answers = [store.get(f"xmine: {own} {at}").decode() for at in range(1, size)]  # which waits
        store.set(f"xmine: {own} heard", " ".join(answers))
        return PrefixStore(f"xmine: {own}", store), rank, size
    while True:
        call = store.get("xmine: call").decode()  # perhaps one of an earlier start
        store.set(f"xmine: {call} {rank}", own)
        heard = f"xmine: {call} heard"
        if store.check([heard]) and own in store.get(heard).decode().split():
            return PrefixStore(f"xmine: {call}", store), rank, size
        time.sleep(0.05)


@cache
def _of_torchrun() -> tuple[Store, int, int]:
    store, rank, size = next(iter(rendezvous("env://")))
    return store, rank, size


def to_tell(error: XmineError) -> XmineError | None:
    """Choose what this process tells of an error that ends all: the first one tells its own.

    One process on each other node tells that another stopped; the rest say nothing.
    """
    if _tells_first():
        return error
    is_alone = os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]  # this node
    return PeerLost(*_LOST) if os.environ.get("LOCAL_RANK") == "0" and not is_alone else None


def _tells_first() -> bool:
    has_agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"  # torchrun has the store
    try:
        if distributed.is_initialized():
            return meeting_place()[0].add("told", 1) == 1
        return not has_agent or _of_torchrun()[0].add(f"xmine: told {_restarts()}", 1) == 1
    except RuntimeError:  # the process with the store is gone
        return True


def restarted() -> bool:
    """Whether `torchrun --max-restarts` has started this process again."""
    return _restarts() > 0


def may_restart() -> bool:
    """Whether torchrun starts processes again: perhaps it has, though not this one."""
    return int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0


def _restarts() -> int:
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
