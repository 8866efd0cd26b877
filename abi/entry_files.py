# SPDX-License-Identifier: BSD-3-Clause
"""The generated entry points: one C file for each chapter of the standard.

Invariant: clang-format changes nothing in them.
"""

import collective
import construct
from chapters import CHAPTER_FILES, by_chapter
from entry import FILE, HERE, Entry, indented, read_stanzas
from tables import SPDX, TableError, bare_name, is_extension, note, prototype, read_tables, split_parameters, wrap

INCLUDES = """\
#include "core/base/clock.h"
#include "core/comm/agree.h"
#include "core/comm/comm_make.h"
#include "core/comm/intercomm.h"
#include "core/comm/recovery.h"
#include "core/comm/revoke.h"
#include "core/comm/topology.h"
#include "core/mpi/api.h"
#include "core/mpi/arg.h"
#include "core/mpi/coll_call.h"
#include "core/mpi/construct.h"
#include "core/mpi/entry.h"
#include "core/mpi/p2p_call.h"
#include "core/mpi/request_call.h"
#include "core/mpi/rma_call.h"
#include "core/mpi/tool_arg.h"
#include "core/base/error_code.h"
#include "core/base/handle_list.h"
#include "core/pt2pt/bsend.h"
#include "core/pt2pt/generalized.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
"""

DIRECTORY = "src/core/mpi/generated"


def define(function, lines):
    body = "\n".join(lines)
    export = "WEFT_EXPORT_EXTENSION" if is_extension(function.name) else "WEFT_EXPORT"
    return (f"{export}({bare_name(function.name)});\n"
            f"{prototype(function, 'P', ')')}\n{{\n{body}\n}}\n")


def widened(plain, large):
    """Widens counts and jumps; refuses forms that differ in more than the width of plain counts."""
    if large is None or large.status == "widen":
        raise TableError(f"{plain.name}: `widen` needs {plain.name}_c")
    ours, theirs = split_parameters(plain.parameters), split_parameters(large.parameters)
    if len(ours) != len(theirs) or plain.returns != large.returns:
        raise TableError(f"{plain.name}: its parameters do not pair with those of {large.name}")
    for a, b in zip(ours, theirs):
        wider = a.type == "int" and b.type in ("MPI_Count", "MPI_Aint")
        same = a.type.replace("MPI_Aint", "MPI_Count") == b.type  # they are of equal width
        if not (a.type == b.type or same or wider) or a.suffix != b.suffix or (wider and a.suffix):
            raise TableError(f"{plain.name}: '{a.name}' cannot be widened to {large.name}'s")
    return wrap(f"    return P{plain.name}_c(", [p.name for p in ours], ");").split("\n")


def entries(functions):
    """Of functions with a stanza, by name."""
    stanzas = read_stanzas()
    stray = set(stanzas) ^ {f.name for f in functions if f.status == "entry"}
    if stray:
        raise TableError(f"`entry` in functions.tsv and a stanza in {FILE} go together: "
                         f"{', '.join(sorted(stray))}")
    return {f.name: Entry(f, stanzas[f.name]) for f in functions if f.name in stanzas}


def text_of(function, by_name, described):
    if function.status == "widen":
        return define(function, widened(function, by_name.get(function.name + "_c")))
    if function.status == "collective":
        return define(function, indented(collective.body(function)))
    if function.status == "construct":
        return define(function, indented(construct.body(function)))
    entry = described[function.name]
    return define(entry.prototype(), entry.body())


def chapter_file(title, functions, by_name, described):
    parts = [
        "// " + SPDX,
        note(f"{title}: entry points that follow from tables. Functions with int counts widen them "
             "and jump to the forms with MPI_Count; the jump is direct because the library is "
             "linked with -Bsymbolic-functions. Written by abi/generate.py from abi/functions.tsv "
             "and abi/entry_points.txt; do not edit."),
        INCLUDES,
    ]
    parts += [text_of(f, by_name, described) for f in functions if f.status != "hand"]
    lines = "\n".join(parts).split("\n")
    return "\n".join(f'{HERE} {number} "{DIRECTORY}/{CHAPTER_FILES[title]}.c"' if line == HERE else line
                     for number, line in enumerate(lines, 2))


def files():
    functions, _, _ = read_tables()
    by_name = {f.name: f for f in functions}
    described = entries(functions)
    result = {}
    for title, members in by_chapter(functions).items():
        result[CHAPTER_FILES[title] + ".c"] = chapter_file(title, members, by_name, described)
    return result
