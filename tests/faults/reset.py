# SPDX-License-Identifier: BSD-3-Clause
"""Resets TCP connections between the ranks of a job by `ss -K`, as a firewall does: both ends get an error.

Invariant: only connections whose two ends belong to the pids given are reset.
"""

import os
import random
import shutil
import socket
import subprocess


def ss(around, *words):
    """`around`: words before the command, which enter the network namespace of the job."""
    return subprocess.run([*around, "ss", "-Htn", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def sockets(pids):
    """The links of these processes' descriptors in /proc: "socket:[inode]" of those that are sockets."""
    found = set()
    for pid in pids:
        try:
            found.update(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            pass  # the process or a descriptor is gone
    return found


def connections(pids, around=()):
    """(one address, the other) of the established TCP connections among these processes, each once."""
    own, mine = set(), sockets(pids)
    for words in map(str.split, ss(around, "-e", "state", "established").splitlines()):
        inode = next((word[4:] for word in words if word.startswith("ino:")), "")
        if f"socket:[{inode}]" in mine:
            own.add((words[2], words[3]))
    return sorted((here, there) for here, there in own if (there, here) in own and here < there)


def reset(pids, share=1.0, chance=random, around=()):
    """Resets each connection among the ranks with that probability. Returns how many."""
    chosen = [pair for pair in connections(pids, around) if chance.random() < share]
    return sum(here in ss(around, "-K", "src", here, "dst", there) for here, there in chosen)


def refusal():
    """Why no connection can be reset here, or None: tried with one of this process's own."""
    if not shutil.which("ss"):
        return "there is no ss (package iproute2)"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        accepted, _ = server.accept()
        with accepted:
            done = reset([os.getpid()])
    return None if done else "ss -K resets no connection: the kernel has no INET_DIAG_DESTROY, or this is not root"
