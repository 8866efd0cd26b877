#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes matrices for cg: make_matrix.py plate|rock|network > NAME.mtx

plate    the Laplacian of a square plate held at its edge, 30 x 30 points, numbered row by row
         (real symmetric)
rock     heat conduction in a block of rock of uneven conductivity, 8 x 8 x 8 cells numbered at
         random, both halves written out (real general)
network  towns of a country, each joined to those nearby; no values (pattern symmetric)

Invariant: the same file on every machine. The random numbers are made here, and what is computed
from them is whole numbers, thousandths where a fraction is written.
"""
import sys


def random_numbers(state):
    """Numbers from 0 to 2^31 - 1, by Knuth's multiplier for 64 bits."""
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def plate(side=30):
    """Rows of (row, column, value), the lower half."""
    entries = []
    for y in range(side):
        for x in range(side):
            here = y * side + x + 1
            if y > 0:
                entries.append((here, here - side, -1))
            if x > 0:
                entries.append((here, here - 1, -1))
            entries.append((here, here, 4))
    return side * side, entries


def rock(side=8):
    """Conductances between neighbouring cells from 0.02 to 2, and some loss from each cell."""
    draw = random_numbers(2)
    cells = [(x, y, z) for z in range(side) for y in range(side) for x in range(side)]
    number = list(range(1, len(cells) + 1))
    for i in range(len(number) - 1, 0, -1):
        other = next(draw) % (i + 1)
        number[i], number[other] = number[other], number[i]
    number = dict(zip(cells, number))
    matrix = {(n, n): 10 for n in number.values()}
    for (x, y, z), here in number.items():
        for neighbour in (x + 1, y, z), (x, y + 1, z), (x, y, z + 1):
            if neighbour not in number:
                continue
            there = number[neighbour]
            conductance = 20 * 10 ** (next(draw) % 3) + next(draw) % 20  # thousandths
            for a, b in (here, there), (there, here):
                matrix[a, b] = -conductance
                matrix[a, a] += conductance
    entries = [(row, column, "%d.%03d" % divmod(value, 1000) if value >= 0 else
                "-%d.%03d" % divmod(-value, 1000))
               for (row, column), value in sorted(matrix.items())]
    return len(cells), entries


def network(towns=600, size=1000, near=75):
    """Edges between towns at most near apart, lower half."""
    draw = random_numbers(3)
    place = [(next(draw) % size, next(draw) % size) for _ in range(towns)]
    entries = []
    for i, (x, y) in enumerate(place):
        for j, (u, v) in enumerate(place[:i]):
            if (x - u) ** 2 + (y - v) ** 2 <= near**2:
                entries.append((i + 1, j + 1))
    return towns, entries


KINDS = {
    "plate": ("real symmetric", plate),
    "rock": ("real general", rock),
    "network": ("pattern symmetric", network),
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        sys.exit("usage: make_matrix.py plate|rock|network > NAME.mtx")
    words, make = KINDS[sys.argv[1]]
    rows, entries = make()
    print("%%MatrixMarket matrix coordinate " + words)
    print(f"% made by make_matrix.py {sys.argv[1]}")
    print(rows, rows, len(entries))
    for entry in entries:
        print(*entry)


main()
