# SPDX-License-Identifier: BSD-3-Clause
"""include/mpi.h: the header of the standard."""

import re

from chapters import by_chapter
from tables import SPDX, TableError, note, prototype, wrap

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
    "MPIX_ERR_PROC_FAILED": "Recovery from dead processes: error classes, and the attribute of a communicator",
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
        "// " + SPDX,
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
