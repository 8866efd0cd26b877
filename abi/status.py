# SPDX-License-Identifier: BSD-3-Clause
"""src/weft.map and docs/STATUS.md: what the library exports and what it supports."""

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
    def supported(some):
        return sum(f.status != "no" for f in some)

    parts = [
        "# What is supported",
        "",
        "Every function of MPI 5.0 is declared in `mpi.h` and exported by the library, so every\n"
        "program links. A function that is not built yet reports "
        "`MPI_ERR_UNSUPPORTED_OPERATION`\nthrough the error handler (`MPI_T_ERR_NOT_SUPPORTED`, "
        "without a handler, in the tools interface).",
        "",
        "In the column Fortran `all` stands for `mpif.h`, `mpi` and `mpi_f08`, `old` for the first\n"
        "two; large counts are in `mpi_f08` only, by the same names or by those in the column. A "
        "function\nthat is not supported in C reports that in Fortran too.",
        "",
        "This page is written by `abi/generate.py` from `abi/functions.tsv` and `abi/fortran.tsv`; do "
        "not\nedit it.",
        "",
        "| Chapter | Supported | Functions |",
        "|---|---:|---:|",
    ]
    chapters = by_chapter(functions)
    parts += [f"| {title} | {supported(members)} | {len(members)} |"
              for title, members in chapters.items()]
    parts.append(f"| **All** | **{supported(functions)}** | **{len(functions)}** |")
    word = {True: "yes", False: "no"}
    bindings = fortran_column()
    for title, members in chapters.items():
        by_name = {f.name: f for f in members}
        parts += ["", f"## {title}", "", "| Function | Supported | Large counts (`_c`) | Fortran |",
                  "|---|---|---|---|"]
        for f in members:
            if f.name.endswith("_c") and f.name[:-2] in by_name:
                continue
            large = by_name.get(f.name + "_c")
            parts.append(f"| `{f.name}` | {word[f.status != 'no']} | "
                         f"{word[large.status != 'no'] if large else ''} | "
                         f"{bindings.get(f.name, '')} |")
    return "\n".join(parts) + "\n"
