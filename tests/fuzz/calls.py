#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes calls.h for tests/fuzz/arguments.c: each function of mpi.h with its parameters, and a function
that calls it with an array of values. All of it follows from abi/functions.tsv.

    calls.py FILE              all functions
    calls.py FILE INTERFACE    those that another MPI's mpi.h has, too: ompi40, mpich12

Invariant: a parameter's kind (enum kind of arguments.c) follows from its type and name alone, so that a
function added to the table is tested without a change here.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "abi"))
from tables import SPDX, TableError, read_tables, rows, split_parameters  # noqa: E402

HANDLE = re.compile(r"MPI_(Comm|Datatype|Group|Op|Info|Win|Request|Session|Errhandler|File|Message|T_enum"
                    r"|T_cvar_handle|T_pvar_handle|T_pvar_session|T_event_registration|T_event_instance)( \*)?")
FREES = re.compile(r"_(free|disconnect|close|finalize|commit)$"
                   r"|^MPI_(Wait|Test|Start|Cancel|I?mrecv|I?mrecv_c|Mrecv|Mrecv_c)$")
COUNT = re.compile(r"(send|recv|origin_|target_|result_|in|out)?count$")
LENGTH = re.compile(r"n|argc|size|\w*size|len|\w+len|max\w+|ndims|nnodes|\w*degree|partitions|blocklength|length")
RANK = re.compile(r"dest|root|target_rank|local_leader")
NUMBER = re.compile(r"int|const int|MPI_Count|MPI_Aint|MPI_Offset|MPI_T_cb_safety")
PLACE = re.compile(r"(int|MPI_Count|MPI_Aint|MPI_Offset|MPI_T_source_order) \*")


def kind_of_pointer(function, type_, name):
    """Of void pointers, strings and what is left."""
    if name == "base" and function == "MPI_Free_mem":
        return "ALLOCATED"
    if name == "attribute_val" and "get_attr" not in function.lower() and function != "MPI_Attr_get":
        return "ANYTHING"
    if name in ("extra_state", "user_data", "obj_handle", "location"):
        return "ANYTHING"
    if name in ("baseptr", "attribute_val") or (name == "buffer_addr" and "detach" in function):
        return "PLACE"
    if type_ in ("void *", "const void *"):
        return "BUFFER"
    if type_ == "const char *":
        return "TEXT"
    if type_ == "char *":
        return "ROOM"
    return None


def kind_of(function, p):
    """(kind, handle) of a parameter."""
    handle = HANDLE.fullmatch(p.type.replace("const ", ""))
    if handle and p.suffix:
        read = "const" in p.type or handle[1] == "Request"
        return ("HANDLES" if read else "BUFFER"), handle[1]
    if handle and "*" not in p.type:
        return "HANDLE", handle[1]
    if handle:
        return ("HANDLE_AT" if FREES.search(function) else "PLACE"), handle[1]
    if "char" in p.type and (p.suffix or "**" in p.type) and p.name != "datarep":
        return "WORDS", None
    if p.type == "int *" and p.name == "argc":
        return "ANYTHING", None
    if "MPI_Status" in p.type:
        return ("STATUS_GIVEN" if "const" in p.type or function.startswith("MPI_Status_") else "STATUS"), None
    if p.suffix and NUMBER.fullmatch(p.type.replace("const ", "")):
        return ("INTS" if re.search(r"\bint$", p.type) else "LARGE"), None
    if NUMBER.fullmatch(p.type):
        if COUNT.fullmatch(p.name):
            return ("COUNT" if p.type == "int" else "LARGE_COUNT"), None
        if LENGTH.fullmatch(p.name):
            return ("LENGTH" if p.type == "int" else "LARGE_LENGTH"), None
        if p.name.endswith("tag") and p.type == "int":
            return "TAG", None
        if RANK.fullmatch(p.name) or p.name == "source":
            return ("SOURCE" if p.name == "source" else "RANK"), None
        return "NUMBER", None
    if PLACE.fullmatch(p.type):
        return "PLACE", None
    pointer = kind_of_pointer(function, p.type if not p.suffix else p.type + " *", p.name)
    if pointer:
        return pointer, None
    if re.match(r"MPI_\w+(_function|_fn) \*|MPI_\w+_function", p.type):
        return "FUNCTION", None
    raise TableError(f"{function}: no kind of argument for '{p.type} {p.name}{p.suffix}'")


def argument(i, p):
    """The C expression of an argument."""
    if p.suffix.startswith("[]["):
        return f"(int(*)[3])(uintptr_t)v[{i}]"
    pointer = p.suffix or "*" in p.type or p.type.startswith("MPI_") and NUMBER.fullmatch(p.type) is None
    through = "(uintptr_t)" if pointer else ""
    star = " *" if p.suffix or p.type.endswith("_function") else ""
    return f"({p.type}{star}){through}v[{i}]"


def write(function):
    parameters = [p for p in split_parameters(function.parameters) if p.type != "..."]
    call = f"{function.name}({', '.join(argument(i, p) for i, p in enumerate(parameters))})"
    body = f"return {call};" if function.returns == "int" else f"(void){call};\n    return MPI_SUCCESS;"
    used = "" if parameters else "    (void)v;\n"
    kinds = [(p.name, *kind_of(function.name, p)) for p in parameters]
    columns = ", ".join(f'{{"{name}", {kind}, OF_{handle or "NONE"}}}' for name, kind, handle in kinds)
    known = "true" if function.returns == "int" and not function.name.endswith("_toint") else "false"
    return (f"static int call_{function.name}(const int64_t *v)\n{{\n{used}    {body}\n}}\n",
            f'    {{"{function.name}", call_{function.name}, {known}, {len(kinds)}, {{{columns}}}}},')


def main():
    functions, _, _ = read_tables()
    if len(sys.argv) > 2:
        theirs = {row[1] for row in rows(f"{sys.argv[2]}.tsv", 4) if row[0] == "function"}
        functions = [f for f in functions if f.name in theirs]
    texts = [write(f) for f in functions]
    Path(sys.argv[1]).write_text("\n".join([
        f"// {SPDX}", "/* Written by tests/fuzz/calls.py from abi/functions.tsv; do not edit. */",
        *[text for text, _ in texts],
        "static const struct function functions[] = {", *[row for _, row in texts], "};", ""]))


main()
