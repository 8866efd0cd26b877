# SPDX-License-Identifier: BSD-3-Clause
"""A process of another user, in the network namespace of a job of ci/faults: it connects to every port that is
open there, sends random bytes or nothing, and keeps some connections. It also tries to open what the job has in
/dev/shm and in /proc. It ends with its parent. Prints a sentence on standard error if it could open something.

Invariant: it is started as another user, in a network namespace of its job's own.
"""

import ctypes
import glob
import os
import random
import signal
import socket
import sys
import time

PR_SET_PDEATHSIG, LISTEN, KEPT = 1, "0A", 40


def ports():
    with open("/proc/net/tcp") as file:
        fields = [line.split() for line in file.readlines()[1:]]
    return [int(field[1].partition(":")[2], 16) for field in fields if field[3] == LISTEN]


def try_to_open(user):
    for name in glob.glob("/dev/shm/*") + glob.glob("/proc/[0-9]*/mem") + glob.glob("/proc/[0-9]*/environ"):
        try:
            if os.stat(name).st_uid != user and open(name, "rb").read(1):
                print(f"WRONG: a process of another user could read {name}", file=sys.stderr)
        except OSError:
            pass


def main():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    kept = []
    while True:
        for port in ports():
            connection = socket.socket()
            connection.settimeout(0.5)
            try:
                connection.connect(("127.0.0.1", port))
                connection.send(random.randbytes(random.choice((0, 1, 20, 32, 64, 4096))))
            except OSError:
                pass
            kept.append(connection)
        while len(kept) > KEPT:
            kept.pop(random.randrange(len(kept))).close()
        try_to_open(os.getuid())
        time.sleep(0.02)


main()
