"""A Ray cluster on this machine, of nodes of one core."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xmine.run.ray import QUIET

STORE = 80_000_000  # bytes of Ray's store for objects, which xmine does not use


@contextmanager
def cluster_of(nodes: int) -> Iterator[Any]:
    """Start a cluster; it stops at the end with all that runs on it."""
    os.environ.update(QUIET)  # Ray reads them when it is loaded, once in a process
    from ray.cluster_utils import Cluster

    first = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=first)
    try:
        for _ in range(nodes - 1):
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        cluster.shutdown()
