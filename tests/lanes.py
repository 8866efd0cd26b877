# SPDX-License-Identifier: BSD-3-Clause
"""The lanes of tests/run and tests/deaths/run: by its name, the settings of each in the environment."""

import ctypes


def tcp_provider():
    """libfabric's provider of messages over TCP without a layer above it: net in 1.17, tcp since."""
    try:
        version = ctypes.CDLL("libfabric.so.1").fi_version()
    except OSError:
        return "tcp"
    return "net" if version < (1 << 16 | 18) else "tcp"


TCP = tcp_provider()

# The network's lanes would see no message on one node if shared memory were not off.
LANES = {
    "rxm": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm"},
    "sockets": {"WEFT_SHM": "0", "WEFT_PROVIDER": "sockets"},
    "chosen": {"WEFT_SHM": "0"},  # the provider that Weft chooses
    "self": {},
    "rxm-soft": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_MATCHING": "software"},
    "net-soft": {"WEFT_SHM": "0", "WEFT_PROVIDER": TCP, "WEFT_MATCHING": "software"},
    # Long messages pushed by the sender, and an eager limit so small that most messages are long.
    "rxm-push": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_RENDEZVOUS": "push"},
    "rxm-small": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_EAGER_LIMIT": "256",
                  "WEFT_READ_WINDOW": "128K"},
    # So few credits that most messages of a window are announced.
    "rxm-unpaid": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_EAGER_CREDITS": "64K"},
    "push-unpaid": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_EAGER_CREDITS": "64K",
                    "WEFT_RENDEZVOUS": "push"},
    "soft-small": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_MATCHING": "software",
                   "WEFT_EAGER_LIMIT": "256", "WEFT_RENDEZVOUS": "push"},
    # Each algorithm of each collective is in one of these.
    "coll-4": {"WEFT_COLL_BCAST": "chain"},
    "coll-1": {"WEFT_COLL_BARRIER": "doubling", "WEFT_COLL_BCAST": "binomial", "WEFT_COLL_REDUCE": "binomial",
               "WEFT_COLL_ALLREDUCE": "doubling", "WEFT_COLL_GATHER": "linear",
               "WEFT_COLL_SCATTER": "linear", "WEFT_COLL_ALLGATHER": "ring",
               "WEFT_COLL_ALLTOALL": "linear", "WEFT_COLL_REDUCE_SCATTER": "halving",
               "WEFT_COLL_SCAN": "doubling"},
    "coll-2": {"WEFT_COLL_BCAST": "quadnomial", "WEFT_COLL_REDUCE": "quadnomial",
               "WEFT_COLL_ALLREDUCE": "halving", "WEFT_COLL_GATHER": "binomial",
               "WEFT_COLL_SCATTER": "binomial", "WEFT_COLL_ALLGATHER": "bruck",
               "WEFT_COLL_ALLTOALL": "pairwise", "WEFT_COLL_REDUCE_SCATTER": "pairwise"},
    "coll-3": {"WEFT_COLL_BARRIER": "dissemination", "WEFT_COLL_BCAST": "scatter_ring", "WEFT_COLL_REDUCE": "halving",
               "WEFT_COLL_ALLGATHER": "doubling", "WEFT_COLL_ALLTOALL": "bruck"},
    # One leader a node, also where the table would not; two ranks pretend to be a node, three do.
    "nodes": {"WEFT_SHM": "1", "WEFT_TEST_NODE_SIZE": "2", "WEFT_PROVIDER": "tcp;ofi_rxm",
              "WEFT_COLL_BARRIER": "nodes", "WEFT_COLL_BCAST": "nodes",
              "WEFT_COLL_REDUCE": "nodes", "WEFT_COLL_ALLREDUCE": "nodes",
              "WEFT_COLL_ALLGATHER": "nodes", "WEFT_COLL_REDUCE_SCATTER": "nodes",
              "WEFT_COLL_SCAN": "nodes", "WEFT_COLL_ALLTOALL": "nodes"},
    "nodes-3": {"WEFT_SHM": "1", "WEFT_TEST_NODE_SIZE": "3", "WEFT_PROVIDER": "tcp;ofi_rxm",
                "WEFT_COLL_BARRIER": "nodes", "WEFT_COLL_BCAST": "nodes",
                "WEFT_COLL_REDUCE": "nodes", "WEFT_COLL_ALLREDUCE": "nodes",
                "WEFT_COLL_ALLGATHER": "nodes", "WEFT_COLL_REDUCE_SCATTER": "nodes",
                "WEFT_COLL_SCAN": "nodes"},
    # Shared memory; the same without reading other processes' memory; with most messages long.
    "shm": {"WEFT_SHM": "1"},
    # The driver's stand-in for programs that use a GPU is AMD's.
    "shm-hip": {"WEFT_SHM": "1", "WEFT_TEST_GPU": "hip"},
    "rxm-hip": {"WEFT_SHM": "0", "WEFT_PROVIDER": "tcp;ofi_rxm", "WEFT_TEST_GPU": "hip"},
    "shm-copy": {"WEFT_SHM": "1", "WEFT_SHM_COPY": "staged"},
    "shm-small": {"WEFT_SHM": "1", "WEFT_SHM_EAGER": "64"},
    # So few credits that most messages of a window are announced.
    "shm-unpaid": {"WEFT_SHM": "1", "WEFT_EAGER_CREDITS": "64K"},
    # Shared memory, read or not, with memory for collectives from the first call of a communicator on; without it.
    "shm-coll": {"WEFT_SHM": "1", "WEFT_SHM_COLL": "1"},
    "shm-coll-copy": {"WEFT_SHM": "1", "WEFT_SHM_COLL": "1", "WEFT_SHM_COPY": "staged"},
    "shm-messages": {"WEFT_SHM": "1", "WEFT_SHM_COLL": "0"},
    # Every two ranks pretend to be a node of their own: shared memory and the network in one job.
    "mixed": {"WEFT_SHM": "1", "WEFT_TEST_NODE_SIZE": "2", "WEFT_PROVIDER": "tcp;ofi_rxm"},
    # The library with one of the tests' lanes in place of shared memory and the network.
    "socket": {"LIBRARY": "tests/lane"},
    "mixed-soft": {"WEFT_SHM": "1", "WEFT_TEST_NODE_SIZE": "2", "WEFT_PROVIDER": TCP,
                   "WEFT_MATCHING": "software"},
}

# From libfabric 1.18 on ofi_rxm's buffers are as long as its messages, 64 MiB (src/ofi/select/rxm_env.c).
if TCP == "tcp":
    for settings in LANES.values():
        if settings.get("WEFT_PROVIDER") == "tcp;ofi_rxm":
            settings["WEFT_TEST_RESIDENT_KIB"] = str((32 + 72) << 10)
            settings["WEFT_TEST_MESSAGES_APART"] = "250"
