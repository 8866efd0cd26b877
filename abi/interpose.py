#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers by which a tool (src/tools) sees each call of MPI.

    abi/interpose.py DIRECTORY

    calls.h      a number for each function, and the functions that the wrappers call
    calls.c      what functions.tsv states of each function and parameter, as tables
    wrappers.c   the wrappers, and a function that makes the nonblocking form of a collective call

Functions that return no error code (MPI_Wtime, MPI_Comm_fromint) have no wrapper: none of them
changes an object, a buffer or a message.

Invariant: a generated file is never edited by hand; clang-format changes nothing in calls.h, and would
arrange the lists of values in the others by columns.
"""

import re
import sys
from pathlib import Path

from tables import SPDX, TableError, bare_name, call_lines, filled, note, parameters_of, prototype, read_functions

OBJECTS = "Comm Datatype Errhandler File Group Info Message Op Request Session Win".split()
# The kinds that tools distinguish; the others are ints whose values are named constants, and the like.
DISTINGUISHED = {"data", "target", "memory", "allocated", "packed", "raw", "value", "handle", "count", "length", "rank",
         "source", "member", "tag", "displacement", "index", "logical", "status", "string"}
FLOWS = {"": "IN", ">": "OUT", "<>": "INOUT"}
LENGTHS = {"sends": "WEFT_LENGTH_SENDS", "receives": "WEFT_LENGTH_RECEIVES"}


def bare(function):
    return bare_name(function.name)


def is_wrapped(function):
    return function.returns == "int"


def written_by(what):
    return f"{what} Written by abi/interpose.py from abi/functions.tsv; do not edit."


def calls_header(functions):
    lines = ["// " + SPDX, note(written_by("The calls that tools see.")),
             "#ifndef WEFT_TOOLS_CALLS_H", "#define WEFT_TOOLS_CALLS_H", "", '#include "mpi.h"', "",
             "enum weft_call_number {", *[f"    WEFT_CALL_{bare(f)}," for f in functions], "    WEFT_CALLS", "};", "",
             "/* The next definition of each function behind that of the tool: in order of enum", " * weft_call_number. */",
             "struct weft_next {",
             *[f"    __typeof__({f.name}) *{bare(f)};" for f in functions], "};", "", "#endif", ""]
    return "\n".join(lines)


def object_of(parameter):
    match = re.match(rf"(?:const )?MPI_({'|'.join(OBJECTS)})\b", parameter.type)
    return f"WEFT_OBJECT_{match[1].upper()}" if match and parameter.kind.word == "handle" else "WEFT_OBJECT_NONE"


def width_of(parameter):
    if parameter.kind.word == "status":
        return "sizeof(MPI_Status)"
    match = re.match(r"(?:const )?(int|MPI_Count|MPI_Aint|MPI_Offset)\b", parameter.type)
    return f"sizeof({match[1]})" if match else "sizeof(void *)"


def nonblocking_form(function, numbers):
    """Of a blocking collective, with the same parameters and a request; or None."""
    name = bare(function)
    form = numbers.get(f"MPI_I{name[0].lower()}{name[1:]}")
    if function.does != "collective" or form is None:
        return None
    return form if parameters_of(form)[:-1] == parameters_of(function) else None


def length_of(parameter, names):
    words = parameter.kind.length
    if not words:
        return "WEFT_LENGTH_ONE"
    if words[0] in names:
        return str(names.index(words[0]))
    return LENGTHS.get(words[0], "WEFT_LENGTH_OTHER")


def parameter_row(parameter, names):
    kind = parameter.kind
    word = kind.word.upper() if kind.word in DISTINGUISHED else "OTHER"
    about = [str(names.index(name)) if name in names else "-1" for name in kind.about]
    about += ["-1"] * (3 - len(about))
    pointer = "*" in parameter.type or bool(parameter.suffix)
    items = [f'"{parameter.name}"', f"WEFT_PARAMETER_{word}", object_of(parameter), f"WEFT_FLOW_{FLOWS[kind.flow]}",
             "true" if pointer else "false", width_of(parameter), length_of(parameter, names),
             "{" + ", ".join(about[:3]) + "}", str(names.index(kind.flag)) if kind.flag else "-1",
             "true" if "root" in kind.options else "false"]
    return "\n".join(filled("    {", items, "},", 5))


def calls_source(functions):
    rows, lines, first = [], [], 0
    numbers = {f.name: f for f in functions}
    for f in functions:
        parameters = parameters_of(f)
        names = [p.name for p in parameters]
        rows += [parameter_row(p, names) for p in parameters]
        plain = f.name[:-len("_c")] if f.name.endswith("_c") and f.name[:-len("_c")] in numbers else f.name
        does = " | ".join(f"WEFT_DOES_{word.upper()}" for word in f.does.split())
        starts = "true" if nonblocking_form(f, numbers) else "false"
        items = [f'"{f.name}"', does, f"WEFT_CALL_{bare_name(plain)}", starts, str(len(parameters)),
                 f"&parameters[{first}]"]
        lines += filled("    {", items, "},", 5)
        first += len(parameters)
    return "\n".join(["// " + SPDX, note(written_by("What each call does, and what each parameter means: call.h.")),
                      '#include "tools/interpose/call.h"', "", "static const struct weft_parameter parameters[] = {",
                      *rows, "};", "", "const struct weft_function weft_functions[WEFT_CALLS] = {", *lines, "};", ""])


def value_of(parameter):
    if parameter.kind.word == "callback":
        return "{.pointer = NULL}"
    if re.match(r"MPI_T_\w+$", parameter.type):  # a handle or a value of MPI_T
        return "{.pointer = NULL}"
    pointer = "*" in parameter.type or parameter.suffix or object_of(parameter) != "WEFT_OBJECT_NONE"
    if not pointer:
        return f"{{.number = {parameter.name}}}"
    cast = "(void *)" if "const" in parameter.type or "(" in parameter.type else ""
    return f"{{.pointer = {cast}{parameter.name}}}"


def argument_of(parameter, i):
    """Argument i of a call that a tool makes for the program's."""
    if value_of(parameter).startswith("{.pointer"):
        return f"v[{i}].pointer"
    return f"(int)v[{i}].number" if parameter.type == "int" else f"v[{i}].number"


def wrapper(function):
    parameters = parameters_of(function)
    values = [value_of(p) for p in parameters] or ["{.pointer = NULL}"]
    arguments = [f"values[{i}].pointer" if p.kind.word == "status" and p.kind.flow == ">" else p.name
                 for i, p in enumerate(parameters)]
    head = prototype(function._replace(name="wrap_" + bare(function), returns="static int"), "", ")")
    return "\n".join([
        head, "{", "    union weft_value values[] = {", *[f"        {value}," for value in values], "    };",
        f"    struct weft_call call = WEFT_CALL_HERE({bare(function)}, values);",
        "    if (weft_call_begin(&call))",
        *call_lines("call.result", f"weft_next.{bare(function)}", arguments or [""], ");", 8),
        "    weft_call_end(&call);", "    return call.result;", "}",
        f"WEFT_EXPORT_{'EXTENSION' if function.name.startswith('MPIX_') else 'WRAPPER'}({bare(function)});", ""])


def start(functions):
    numbers = {f.name: f for f in functions}
    lines = ["int weft_call_start(const struct weft_call *call, MPI_Request *request)", "{",
             "    const union weft_value *v = call->values;",
             "    switch ((enum weft_call_number)(call->function - weft_functions)) {"]
    for f in functions:
        form = nonblocking_form(f, numbers)
        if form:
            arguments = [argument_of(p, i) for i, p in enumerate(parameters_of(f))] + ["request"]
            head = f"        return weft_next.{bare(form)}("
            lines += [f"    case WEFT_CALL_{bare(f)}:", *filled(head, arguments, ");", len(head))]
    return "\n".join([*lines, "    default:", "        return MPI_ERR_OTHER;", "    }", "}", ""])


def wrappers(functions):
    return "\n".join(["// " + SPDX,
                      note(written_by("The wrappers: each shows the arguments to the tool, calls the next definition, "
                                      "and shows the results to the tool.")),
                      '#include "tools/interpose/wrapper.h"', "", *[wrapper(f) for f in functions], start(functions)])


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: abi/interpose.py DIRECTORY")
    try:
        functions = [f for f in read_functions() if is_wrapped(f)]
        directory = Path(arguments[0])
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in (("calls.h", calls_header(functions)), ("calls.c", calls_source(functions)),
                           ("wrappers.c", wrappers(functions))):
            (directory / name).write_text(text)
    except TableError as error:
        sys.exit(f"abi/interpose.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
