#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a wrapper of every MPI function that tells memory.c where calls begin and end.

    calls.py FILE
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "abi"))
from tables import read_tables, split_parameters  # noqa: E402


def wrapper(function):
    parameters = split_parameters(function.parameters)
    names = ", ".join(p.name for p in parameters)
    return (f"{function.returns} {function.name}({function.parameters})\n"
            f"{{\n    device_memory_enter(\"{function.name}\");\n"
            f"    {function.returns} returned = P{function.name}({names});\n"
            f"    device_memory_leave();\n    return returned;\n}}\n")


def main():
    functions, _, _ = read_tables()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write('// Written by tests/gpu/calls.py.\n#include "memory.h"\n#include <mpi.h>\n\n')
        # MPI_Pcontrol has "...", which no function can pass on.
        out.write("\n".join(wrapper(f) for f in functions if "..." not in f.parameters))


if __name__ == "__main__":
    main()
