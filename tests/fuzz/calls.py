#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes calls.h for tests/fuzz/arguments.c: each function of mpi.h with its parameters, and a function
that calls it with an array of values. All of it follows from abi/functions.tsv.

    calls.py FILE              all functions
    calls.py FILE INTERFACE    those that another MPI's mpi.h has, too: ompi40, mpich12

Invariant: what is passed for a parameter follows from its kind in the table and its C type, so that a
function added to the table is tested without a change here.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "abi"))
from tables import SPDX, TableError, parameters_of, read_tables, rows  # noqa: E402

HANDLE = re.compile(r"MPI_(Comm|Datatype|Group|Op|Info|Win|Request|Session|Errhandler|File|Message|T_enum"
                    r"|T_cvar_handle|T_pvar_handle|T_pvar_session|T_event_registration|T_event_instance)\b")
# Kinds of functions.tsv: what is passed (enum kind of arguments.c), where the C type does not matter
PASSED = {
    "memory": "BUFFER", "data": "BUFFER", "packed": "BUFFER", "raw": "BUFFER", "value": "BUFFER",
    "allocated": "ALLOCATED", "strings": "WORDS", "callback": "FUNCTION", "extra": "ANYTHING", "object": "ANYTHING",
}  # fmt: skip
NUMBERS = {"tag": "TAG", "rank": "RANK", "source": "SOURCE"}  # of type int
NUMBER = re.compile(r"(const )?(int|MPI_Count|MPI_Aint|MPI_Offset|MPI_T_cb_safety)")


def kind_of_handle(p):
    if p.suffix:
        return "BUFFER" if p.kind.flow == ">" else "HANDLES"
    return {"": "HANDLE", ">": "PLACE", "<>": "HANDLE_AT"}[p.kind.flow]


def kind_of_number(p):
    large = "int" not in p.type.split()
    if p.kind.length:
        return "LARGE" if large else "INTS"
    if p.kind.flow and p.kind.word != "target":
        return "PLACE"
    if p.kind.word in ("count", "length"):
        return ("LARGE_" if large else "") + p.kind.word.upper()
    return NUMBERS.get(p.kind.word, "NUMBER")


def kind_of(function, p):
    """What is passed for a parameter."""
    word, flow = p.kind.word, p.kind.flow
    if word == "handle":
        return kind_of_handle(p)
    if word == "strings" and p.type.count("*") > 1:
        return "WORD_LISTS"
    if word in PASSED:
        return PASSED[word]
    if word == "status":
        return "STATUS" if flow == ">" else "STATUS_GIVEN"
    if word == "string":
        return "ROOM" if flow else "TEXT"
    if word == "arguments":
        return "WORDS" if "char" in p.type else "ANYTHING"
    if word == "attribute":
        return "PLACE" if flow else "ANYTHING"
    if word == "address":
        return "PLACE"
    if p.suffix or flow or NUMBER.fullmatch(p.type):
        return kind_of_number(p)
    raise TableError(f"{function}: nothing to pass for '{p.type} {p.name}{p.suffix}'")


def argument(i, p):
    """The C expression of an argument."""
    if p.suffix.startswith("[]["):
        return f"(int(*)[3])(uintptr_t)v[{i}]"
    pointer = p.suffix or "*" in p.type or p.type.startswith("MPI_") and NUMBER.fullmatch(p.type) is None
    through = "(uintptr_t)" if pointer else ""
    star = " *" if p.suffix or p.type.endswith("_function") else ""
    return f"({p.type}{star}){through}v[{i}]"


def write(function):
    parameters = parameters_of(function)
    call = f"{function.name}({', '.join(argument(i, p) for i, p in enumerate(parameters))})"
    body = f"return {call};" if function.returns == "int" else f"(void){call};\n    return MPI_SUCCESS;"
    used = "" if parameters else "    (void)v;\n"
    handles = [HANDLE.search(p.type) for p in parameters]
    columns = ", ".join(f'{{"{p.name}", {kind_of(function.name, p)}, OF_{handle[1] if handle else "NONE"}}}'
                        for p, handle in zip(parameters, handles))
    known = "true" if function.returns == "int" and not function.name.endswith("_toint") else "false"
    return (f"static int call_{function.name}(const int64_t *v)\n{{\n{used}    {body}\n}}\n",
            f'    {{"{function.name}", call_{function.name}, {known}, {len(parameters)}, {{{columns}}}}},')


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
