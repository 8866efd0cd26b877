# SPDX-License-Identifier: BSD-3-Clause
"""src/weft.map and docs/STATUS.md: what the library exports and supports."""

import fortran
from chapters import by_chapter
from tables import SPDX


def version_script(functions):
    names = sorted([f.name for f in functions] + ["P" + f.name for f in functions])
    return "\n".join(
        ["# SPDX-License-Identifier: BSD-3-Clause",
         "# What libmpi_abi.so exports: the functions of MPI 5.0, once as MPI_ and once as PMPI_, "
         "and private",
         "# names of them for front ends.",
         "# Written by abi/generate.py from abi/functions.tsv; do not edit.",
         "{", "global:"] + [f"    {name};" for name in names] + ["    weft_abi_*;", "local:", "    *;", "};"]
    ) + "\n"


def fortran_column():
    """What each function has in Fortran."""
    column = {}
    table = {p.name: p for p in fortran.procedures()}
    for p in table.values():
        if fortran.is_large(p):
            if not fortran.is_distinct(table[p.name[:-2]], p):
                column[p.name[:-2]] += f", `{p.name}`"
        else:
            column[p.name] = "old" if p.old else "all"
    return column


def status_page(functions):
    parts = [
        "# What is supported",
        "",
        "Weft has every function of MPI 5.0, in C and, unless the column Fortran is empty, in Fortran.\n"
        "Functions of the proposal ULFM begin with `MPIX_`.",
        "",
        "In the column Fortran `all` stands for `mpif.h`, `mpi` and `mpi_f08`, `old` for the first\n"
        "two; large counts are in `mpi_f08` only, by the same names or by those in the column.",
        "",
        "This page is written by `abi/generate.py` from `abi/functions.tsv` and `abi/fortran.tsv`; do "
        "not\nedit it.",
        "",
        "| Chapter | Functions |",
        "|---|---:|",
    ]
    chapters = by_chapter(functions)
    parts += [f"| {title} | {len(members)} |" for title, members in chapters.items()]
    parts.append(f"| **All** | **{len(functions)}** |")
    bindings = fortran_column()
    for title, members in chapters.items():
        by_name = {f.name: f for f in members}
        parts += ["", f"## {title}", "", "| Function | Large counts (`_c`) | Fortran |", "|---|---|---|"]
        for f in members:
            if f.name.endswith("_c") and f.name[:-2] in by_name:
                continue
            large = "yes" if f.name + "_c" in by_name else ""
            parts.append(f"| `{f.name}` | {large} | {bindings.get(f.name, '')} |")
    return "\n".join(parts) + "\n"
