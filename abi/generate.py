#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes every file that follows mechanically from the tables of the MPI 5.0 ABI.

    abi/generate.py [--check]

Reads constants.tsv, types.tsv and functions.tsv beside this script and writes

    include/mpi.h                           the header of the standard
    src/core/mpi/generated_unsupported.c    an entry for every function with status `no`
    src/core/mpi/generated_forms.c          the forms with int counts (status `widen`)
    src/weft.map                            the names the shared library exports
    docs/STATUS.md                          what is supported

With --check nothing is written: the script says which of these differ from what it would write
and fails.

Invariant: the tables are the only place that names a function or a value; a generated file is
never edited by hand.
"""

import re
import sys
import textwrap
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100

Function = namedtuple("Function", "returns name parameters status")
Constant = namedtuple("Constant", "form name value")
Parameter = namedtuple("Parameter", "type name suffix")

STATUSES = ("no", "hand", "widen")

# The first type or constant of each group of the header, in the order of the tables.
TYPE_GROUPS = {
    "MPI_Aint": "Integers of the standard",
    "MPI_Status": "What is known of a received message; MPI_internal belongs to the library",
    "MPI_Op": "Handles: pointers that are never followed outside the library",
    "MPI_User_function": "Functions that a program hands to MPI",
    "MPI_T_enum": "The tools interface",
}
CONSTANT_GROUPS = {
    "MPI_VERSION": "Versions of the standard and of its ABI",
    "MPI_OP_NULL": "Reduction operations",
    "MPI_COMM_NULL": "Communicators",
    "MPI_GROUP_NULL": "Groups",
    "MPI_WIN_NULL": "Other null and predefined handles",
    "MPI_ERRHANDLER_NULL": "Error handlers",
    "MPI_REQUEST_NULL": "Requests",
    "MPI_DATATYPE_NULL": "Datatypes of C and C++, and Fortran's default kinds",
    "MPI_FLOAT_INT": "Pairs for MPI_MINLOC and MPI_MAXLOC",
    "MPI_C_BOOL": "Truth values and wide characters",
    "MPI_INT8_T": "Datatypes whose handle encodes their size",
    "MPI_BOTTOM": "Addresses with a meaning of their own",
    "MPI_MAX_DATAREP_STRING": "Lengths of strings, with the terminating null character",
    "MPI_BSEND_OVERHEAD": "Buffered sends",
    "MPI_DISPLACEMENT_CURRENT": "Files",
    "MPI_NULL_COPY_FN": "Predefined functions: marks, not to be called",
    "MPI_T_ENUM_NULL": "Handles of the tools interface",
    "MPI_F_STATUS_SIZE": "A status as Fortran's array of integers",
    "MPI_SUCCESS": "Error classes",
    "MPI_T_ERR_CANNOT_INIT": "Errors of the tools interface",
    "MPI_ERR_LASTCODE": "The largest error class of the standard",
    "MPI_MODE_APPEND": "Access modes of files",
    "MPI_MODE_NOCHECK": "Assertions of one-sided communication",
    "MPI_ANY_SOURCE": "Ranks and tags",
    "MPI_UNDEFINED": "No value",
    "MPI_THREAD_SINGLE": "Levels of thread support",
    "MPI_ORDER_C": "Array order and distribution",
    "MPI_COMBINER_NAMED": "How a datatype was made",
    "MPIX_TYPECLASS_LOGICAL": "Classes of datatypes",
    "MPI_IDENT": "Results of comparisons",
    "MPI_CART": "Virtual topologies",
    "MPI_COMM_TYPE_SHARED": "Ways to split a communicator",
    "MPI_LOCK_EXCLUSIVE": "Windows",
    "MPI_SEEK_CUR": "Origins of a file seek",
    "MPI_KEYVAL_INVALID": "Attribute keys",
    "MPI_T_VERBOSITY_USER_BASIC": "The tools interface",
}

# Chapters of the standard: the first pattern that matches a name without MPI_ decides.
CHAPTERS = (
    ("Tools interface", r"T_|Pcontrol$"),
    ("Deprecated attribute functions", r"Attr_|Keyval_"),
    ("ABI and handle conversion", r"Abi_|.*_(to|from)int$"),
    ("Files", r"File_|Register_datarep"),
    ("One-sided communication", r"Win_|R?(put|get|accumulate|get_accumulate)(_c)?$|Put|Get(_c)?$|"
     r"Get_accumulate|Accumulate|Compare_and_swap|Fetch_and_op"),
    ("Partitioned communication", r"P(send|recv)_init|Pready|Parrived"),
    ("Error handling", r"(Comm|Session)_\w+_errhandler|Errhandler_|Error_|(Add|Remove)_error_"),
    ("Buffered sends", r"(Buffer|(Comm|Session)_(attach|detach|i?flush))"),
    ("Info objects", r"Info_"),
    ("Virtual topologies", r"Cart|Graph|Dist_graph|Dims_|Topo_|I?neighbor_"),
    ("Collective communication", r"I?(barrier|bcast|all(gather|reduce|toall)|gather|scatter|"
     r"reduce|scan|exscan)|Op_"),
    ("Datatypes", r"Type_|Pack|Unpack|Get_(address|elements)|Aint_"),
    ("External interfaces", r"Grequest_|Status_set_(cancelled|elements)"),
    ("Start, end and processes", r"Init|Finali[sz]e|Abort|Session_|Query_thread|Is_thread_main|"
     r"Comm_(accept|connect|disconnect|get_parent|join|spawn)|(Open|Close)_port|"
     r"(Publish|Unpublish|Lookup)_name"),
    ("Groups and communicators", r"Comm_|Group_|Intercomm_"),
    ("The environment", r"Get_(version|library|processor|hw_)|Wti(me|ck)|Alloc_mem|Free_mem"),
    ("Point-to-point communication", r"."),
)
CHAPTER_ORDER = (
    "Start, end and processes", "The environment", "Error handling",
    "Point-to-point communication", "Buffered sends", "Partitioned communication", "Datatypes",
    "Collective communication", "Groups and communicators", "Deprecated attribute functions",
    "Virtual topologies", "Info objects", "One-sided communication", "External interfaces",
    "Files", "Tools interface", "ABI and handle conversion",
)  # fmt: skip


class TableError(Exception):
    """A row of a table contradicts the rules above; its text names the row."""


def rows(name, columns):
    """The rows of abi/<name>, split at tabs, without comments."""
    for line in (ROOT / "abi" / name).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != columns:
            raise TableError(f"{name}: {len(cells)} columns instead of {columns}: {line}")
        yield cells


def read_tables():
    functions = [Function(*row) for row in rows("functions.tsv", 4)]
    for f in functions:
        if f.status not in STATUSES:
            raise TableError(f"{f.name}: unknown status '{f.status}'")
        if f.status == "no" and f.returns != "int":
            raise TableError(f"{f.name} returns {f.returns}, not an error: it has to be `hand`")
    constants = [Constant(*row) for row in rows("constants.tsv", 3)]
    types = [row[0] for row in rows("types.tsv", 1)]
    return functions, constants, types


def split_parameters(text):
    """'const int a[], MPI_Comm c' as Parameter(type 'const int', name 'a', suffix '[]'), ..."""
    if text == "void":
        return []
    result = []
    for part in text.split(","):
        if part.strip() == "...":
            result.append(Parameter("...", "", ""))
            continue
        match = re.fullmatch(r"\s*(.*?[\s*])(\w+)((?:\[\w*\])*)\s*", part)
        if not match:
            raise TableError(f"cannot read the parameter '{part}'")
        result.append(Parameter(match[1].strip(), match[2], match[3]))
    return result


def wrap(head, items, tail):
    """`head(items)tail` in lines of at most WIDTH columns, continued under the parenthesis."""
    glued = ", ".join(item.replace(" ", "\0") for item in items)
    lines = textwrap.wrap(
        head.replace(" ", "\0") + glued + tail,
        WIDTH,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\0", " ")


def head_of(function, prefix=""):
    space = "" if function.returns.endswith("*") else " "
    return f"{function.returns}{space}{prefix}{function.name}("


def prototype(function, prefix="", end=");"):
    items = [p.strip() for p in function.parameters.split(",")]
    # gcc takes what an array stands for to be read, and warns of MPI_UNWEIGHTED, which is nowhere.
    items = [re.sub(r"int (\w*weights)\[\]$", r"int *\1", item) for item in items]
    return wrap(head_of(function, prefix), items, end)


def chapter_of(function):
    bare = function.name[len("MPI_"):]
    return next(title for title, pattern in CHAPTERS if re.match(pattern, bare, re.IGNORECASE))


def by_chapter(functions):
    chapters = {title: [] for title in CHAPTER_ORDER}
    for function in functions:
        chapters[chapter_of(function)].append(function)
    return chapters


def grouped(items, name_of, starts):
    """Splits items into (title, items) where a group begins at each name in starts."""
    unknown = set(starts) - {name_of(item) for item in items}
    if unknown:
        raise TableError(f"a group begins at a name that is in no table: {sorted(unknown)}")
    groups = []
    for item in items:
        if name_of(item) in starts:
            groups.append((starts[name_of(item)], []))
        groups[-1][1].append(item)
    return groups


def note(text, comment=("/*", " *", " */")):
    """The note at the top of a generated file."""
    lines = textwrap.wrap(text, WIDTH - 3)
    return "\n".join([comment[0]] + [f"{comment[1]} {line}" for line in lines] + [comment[2]])


# ---- include/mpi.h


def type_name(text):
    match = re.search(r"\((MPI_\w+)\)\(", text) or re.search(r"(MPI_\w+)$", text)
    return match[1]


def type_text(text):
    braces = re.fullmatch(r"(.*?)\{ (.*?);? \}(.*)", text)
    if braces:  # struct members end with ';', enumerators are separated by ','
        members = re.sub(r"([;,]) ", r"\1\n    ", braces[2])
        end = "" if " enum " in braces[1] else ";"
        return f"{braces[1].strip()} {{\n    {members}{end}\n}}{braces[3]};"
    text = re.sub(r"\* (\w+)$", r" *\1", text)
    head, parenthesis, tail = text.rpartition(")(")
    if not parenthesis:
        return text + ";"
    return wrap(head + parenthesis, tail.rstrip(")").split(", "), ");")


def enumerators_of_types(types):
    return set(re.findall(r"(MPI_\w+) = ", " ".join(types)))


def constants_text(constants):
    width = max(len(c.name) for c in constants)
    lines = []
    for index, c in enumerate(constants):
        if c.form == "define":
            lines.append(f"#define {c.name:<{width}} {c.value}")
            continue
        if index == 0 or constants[index - 1].form != "enum":
            lines.append("enum {")
        last = index + 1 == len(constants) or constants[index + 1].form != "enum"
        lines.append(f"    {c.name:<{width}} = {c.value}" + ("\n};" if last else ","))
    return "\n".join(lines)


def header(functions, constants, types):
    in_types = enumerators_of_types(types)
    constants = [c for c in constants if c.name not in in_types]
    parts = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        note("The C header of MPI 5.0 in the standard's own binary interface: a program compiled "
             "with it runs with every library called libmpi_abi.so.1. Written by abi/generate.py "
             "from the tables in abi/; do not edit."),
        "#ifndef MPI_H\n#define MPI_H\n",
        "#include <stddef.h>\n#include <stdint.h>\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
    ]
    for title, members in grouped(types, type_name, TYPE_GROUPS):
        parts.append(f"/* {title} */")
        parts += [type_text(t) for t in members]
        parts.append("")
    for title, members in grouped(constants, lambda c: c.name, CONSTANT_GROUPS):
        parts += [f"/* {title} */", constants_text(members), ""]
    for title, members in by_chapter(functions).items():
        parts.append(f"/* {title} */")
        parts += [prototype(f) for f in members]
        parts.append("")
    parts.append("/* The same functions under the names that a profiling library calls */")
    parts += [prototype(f, "P") for f in functions]
    parts.append("\n#ifdef __cplusplus\n}\n#endif\n\n#endif")
    return "\n".join(parts) + "\n"


# ---- src/core/mpi/generated_*.c


def unsupported(functions):
    parts = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        note("The functions of the standard that are not built yet: each reports "
             "MPI_ERR_UNSUPPORTED_OPERATION to the error handler of its communicator, or of "
             "MPI_COMM_NULL's when it takes none. Those of the tools interface return an error and "
             "call no handler, as the standard asks. Written by abi/generate.py from "
             "abi/functions.tsv; do not edit."),
        '#include "core/mpi/api.h"\n',
        '#pragma GCC diagnostic ignored "-Wunused-parameter"',
    ]
    for f in functions:
        if f.status != "no":
            continue
        parameters = split_parameters(f.parameters)
        comms = [p.name for p in parameters if p.type == "MPI_Comm" and not p.suffix]
        call = f'weft_api_unsupported("{f.name}", {(comms + ["MPI_COMM_NULL"])[0]})'
        if f.name.startswith("MPI_T_"):
            call = "MPI_T_ERR_NOT_SUPPORTED"
        parts.append(f"\nWEFT_EXPORT({f.name[len('MPI_'):]});\n" + prototype(f, "P", ")"))
        parts.append("{\n    return " + call + ";\n}")
    return "\n".join(parts) + "\n"


def require_widenable(plain, large):
    """Refuses a `widen` row that is more than int counts turning into MPI_Count or MPI_Aint."""
    if large is None or large.status != "hand":
        raise TableError(f"{plain.name}: `widen` needs a hand-written {plain.name}_c")
    ours, theirs = split_parameters(plain.parameters), split_parameters(large.parameters)
    if len(ours) != len(theirs) or plain.returns != large.returns:
        raise TableError(f"{plain.name}: its parameters do not pair with those of {large.name}")
    for a, b in zip(ours, theirs):
        widened = a.type == "int" and b.type in ("MPI_Count", "MPI_Aint")
        if not (a.type == b.type or widened) or a.suffix != b.suffix or (widened and a.suffix):
            raise TableError(f"{plain.name}: '{a.name}' cannot be widened to {large.name}'s")


def forms(functions):
    by_name = {f.name: f for f in functions}
    parts = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        note("The forms with int counts: each widens its counts and jumps to the hand-written form "
             "with MPI_Count counts. This is the one file of the library that calls a PMPI name; "
             "the jump is direct because the library is linked with -Bsymbolic-functions. Written "
             "by abi/generate.py from abi/functions.tsv; do not edit."),
        '#include "core/mpi/api.h"',
    ]
    for f in functions:
        if f.status != "widen":
            continue
        require_widenable(f, by_name.get(f.name + "_c"))
        names = [p.name for p in split_parameters(f.parameters)]
        parts.append(f"\nWEFT_EXPORT({f.name[len('MPI_'):]});\n" + prototype(f, "P", ")"))
        parts.append("{\n" + wrap(f"    return P{f.name}_c(", names, ");") + "\n}")
    return "\n".join(parts) + "\n"


# ---- src/weft.map and docs/STATUS.md


def version_script(functions):
    names = sorted([f.name for f in functions] + ["P" + f.name for f in functions])
    return "\n".join(
        ["# SPDX-License-Identifier: BSD-3-Clause",
         "# What libmpi_abi.so exports: the functions of MPI 5.0, once as MPI_ and once as PMPI_, "
         "nothing else.",
         "# Written by abi/generate.py from abi/functions.tsv; do not edit.",
         "{", "global:"] + [f"    {name};" for name in names] + ["local:", "    *;", "};"]
    ) + "\n"


def fortran_column():
    """What each function has in Fortran."""
    import fortran  # needs this module

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
        "two; large counts are in `mpi_f08` only, by the same names or by those in the column. What is "
        "not\nsupported in C says so in Fortran, too.",
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


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit("usage: abi/generate.py [--check]")
    try:
        functions, constants, types = read_tables()
        outputs = {
            "include/mpi.h": header(functions, constants, types),
            "src/core/mpi/generated_unsupported.c": unsupported(functions),
            "src/core/mpi/generated_forms.c": forms(functions),
            "src/weft.map": version_script(functions),
            "docs/STATUS.md": status_page(functions),
        }
    except TableError as error:
        sys.exit(f"abi/generate.py: {error}")
    stale = []
    for name, text in outputs.items():
        path = ROOT / name
        if path.is_file() and path.read_text() == text:
            continue
        stale.append(name)
        if not arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if stale and arguments:
        sys.exit(f"abi/generate.py: not what the tables say: {', '.join(stale)}; "
                 "run `make generate` and commit the result.")


if __name__ == "__main__":
    main(sys.argv[1:])
