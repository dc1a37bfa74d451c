from typing import Any


def choose_index(*a: Any) -> str:
    return "exact"


def search_approximate(*a: Any, **k: Any) -> Any: ...
def index_bytes(*a: Any) -> int:
    return 0
