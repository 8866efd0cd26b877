#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strangers at a port: tests/jobs/stranger.py NAME SECONDS

Connects to the address in the port's name again and again, without its secret: sends nothing, random
bytes, a hello of the right form, and bytes one at a time. No connection may receive more than the
random number of a handshake, 16 bytes.
"""
import os
import random
import select
import socket
import struct
import sys
import time

NONCE = 16


def hello(number):
    """A hello with the right magic, version and port, and a random proof."""
    return (b'weft-job' + struct.pack('=II', 1, random.choice([1, 2])) + number + os.urandom(16) +
            struct.pack('=ii', 0, 0) + os.urandom(16) + os.urandom(16))


def main():
    name, seconds = sys.argv[1], float(sys.argv[2])
    _, number, _, port, addresses, _ = name.split('/')
    words = [int(number[:16], 16), int(number[16:], 16)]
    number = struct.pack('=QQ', *words)
    address = addresses.split(',')[-1]
    end, received, calls, open_ones = time.time() + seconds, {}, 0, []
    while time.time() < end:
        try:
            stranger = socket.create_connection((address, int(port)), 5)
        except OSError:
            break
        calls += 1
        stranger.setblocking(False)
        received[stranger] = 0
        open_ones.append(stranger)
        kind = calls % 5
        data = {0: b'', 1: os.urandom(random.randrange(1, 5000)), 2: hello(number),
                3: hello(os.urandom(16)), 4: b''}[kind]
        try:
            if data:
                stranger.send(data)
            for other in open_ones[-20:]:  # slow ones
                other.send(bytes([random.randrange(256)]))
        except OSError:
            pass
        for other in select.select(open_ones, [], [], 0.002)[0]:
            try:
                got = other.recv(4096)
            except OSError:
                got = b''
            received[other] += len(got)
            if not got:
                open_ones.remove(other)
                other.close()
        if len(open_ones) > 200:
            open_ones.pop(0).close()
    worst = max(received.values(), default=0)
    print(f'{calls} calls, at most {worst} bytes received')
    sys.exit(0 if calls and worst <= NONCE else 1)


main()
