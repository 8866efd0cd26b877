#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files that follow mechanically from the tables of the MPI 5.0 ABI.

    abi/generate.py             the committed ones, in the source tree
    abi/generate.py --check     nothing: names those that differ from the tables, and fails
    abi/generate.py DIRECTORY   the entry points of the library, when it is built

The committed files are what readers and users need without a build:

    include/mpi.h       the header of the standard
    src/weft.map        the names that the shared library exports
    docs/STATUS.md      what is supported

Invariant: a generated file is never edited by hand.
"""

import sys
from pathlib import Path

import entry_files
import header
import status
from tables import ROOT, TableError, read_tables


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def committed():
    functions, constants, types = read_tables()
    return {
        "include/mpi.h": header.header(functions, constants, types),
        "src/weft.map": status.version_script(functions),
        "docs/STATUS.md": status.status_page(functions),
    }


def differs(path, text):
    return not path.is_file() or path.read_text() != text


def update(check):
    stale = {name: text for name, text in committed().items() if differs(ROOT / name, text)}
    if stale and check:
        sys.exit(f"abi/generate.py: not what the tables say: {', '.join(stale)}; "
                 "run `make generate` and commit the result.")
    for name, text in stale.items():
        write(ROOT / name, text)


def main(arguments):
    if len(arguments) > 1 or arguments and arguments[0].startswith("-") and arguments != ["--check"]:
        sys.exit("usage: abi/generate.py [--check | DIRECTORY]")
    try:
        if not arguments or arguments == ["--check"]:
            update(check=bool(arguments))
            return
        for name, text in entry_files.files().items():
            path = Path(arguments[0]) / name
            if differs(path, text):  # else what was compiled from it is up to date
                write(path, text)
    except TableError as error:
        sys.exit(f"abi/generate.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
