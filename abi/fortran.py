#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the mechanical parts of the Fortran bindings, into the build tree.

    abi/fortran.py DIRECTORY

Reads functions.tsv, constants.tsv, types.tsv and fortran.tsv beside this script and writes into
DIRECTORY

    mpif.h                  the include file, for fixed and for free source form
    weft_mpi_constants.f90  integer constants and kinds, of the modules mpi and mpi_f08
    mpi.f90                 interfaces of module mpi
    mpi_f08.f90             handles, callbacks, interfaces and generic names of module mpi_f08
    glue.c                  the external procedures, on the C ABI
    hand.h                  prototypes of all external procedures
    mpich/glue.c, hand.h    the same as MPICH has them: procedures of mpi_f08 are not bind(C)
    trampolines.h           EACH(T): T(0) to T(255), for callback.c

Invariant: a procedure is declared in the modules and defined in glue.c from the same rows, so the
two cannot disagree. What a hand-written procedure takes is checked against hand.h by the compiler.
"""

import re
import sys
import textwrap
from collections import namedtuple
from pathlib import Path

from tables import (SPDX, WIDTH, TableError, bare_name, formatted, is_extension, note, parameters_of, read_tables,
                    rows, split_parameters, wrap)

WIDE = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Count": "MPI_COUNT_KIND",
        "MPI_Offset": "MPI_OFFSET_KIND"}  # fmt: skip
FUNCTION_WORDS = ("no", "old", "hand", "explicit", "leading")

# `array`: C has a pointer to several; `length`: how many, or how long a string is at most.
Argument = namedtuple("Argument", "name what type intent array length")
Procedure = namedtuple("Procedure", "name c arguments dropped hand old explicit leading status")


def read_words():
    words = {}
    for function, parameter, word in rows("fortran.tsv", 3):
        words.setdefault((function, parameter), []).append(word)
    return words


# What an argument is, by the kind of the parameter; other kinds are numbers.
WHAT = {"data": "buffer", "memory": "buffer", "packed": "buffer", "allocated": "buffer", "raw": "logical_raw",
        **{word: word for word in "logical weights status string address attribute extra callback".split()}}  # fmt: skip
INTENTS = {"": "in", ">": "out", "<>": "inout"}


def argument_of(p, word):
    """One parameter of a C prototype as Fortran's argument. `word` of fortran.tsv comes before its kind."""
    name = {"indx": "index"}.get(p.name, p.name)
    kind = p.kind
    base = p.type.replace("const ", "").replace("*", "").strip()
    array = bool(p.suffix or kind.length and kind.word in ("status", "logical"))
    length = ""
    if kind.word in ("handle", "index"):
        what = {"handle": "handles", "index": "indices"}[kind.word] if array else kind.word
        length = kind.length[-1 if kind.word == "index" else 0] if array else ""
    elif kind.word == "strings":
        what, array = "strings" if p.type.count("*") < 2 else "strings2", True
    elif kind.word in WHAT:
        what = word or WHAT[kind.word]
        if what in ("logical", "string") and kind.length:
            length = kind.length[0]
    else:
        what = "wide" if base in WIDE else "int"
    intent = INTENTS[kind.flow] if "*" in p.type or p.suffix else "in"
    if what in ("logical_raw", "weights") and intent == "out":
        intent = "inout"
    if what in ("old_attribute", "attribute", "extra", "old_extra"):
        intent = "in"
    return Argument(name, what, base, intent, array, length if p.suffix in ("", "[]") else p.suffix)


def procedures():
    """Every procedure with a Fortran binding; large-count forms follow their plain form."""
    functions, _, _ = read_tables()
    words = read_words()
    known = {f.name for f in functions} | {"*"}
    for function, _ in words:
        if function not in known:
            raise TableError(f"fortran.tsv: no function '{function}'")
    result = []
    for f in functions:
        if f.name.startswith("MPI_T_"):
            continue
        plain = f.name[:-2] if f.name.endswith("_c") else f.name
        own = words.get((plain, "-"), [])
        for word in own:
            if word not in FUNCTION_WORDS:
                raise TableError(f"fortran.tsv: {plain}: unknown word '{word}'")
        if "no" in own:
            continue
        arguments, dropped = [], 0  # the parameters dropped are the first ones
        for p in parameters_of(f):
            given = words.get((plain, p.name)) or words.get(("*", p.name)) or [""]
            if given[0] != "-":
                arguments.append(argument_of(p, given[0]))
            else:
                dropped += 1
        result.append(Procedure(f.name, f, arguments, dropped, "hand" in own, "old" in own,
                                "explicit" in own, "leading" in own, f.status))
    return result


def is_large(procedure):
    return procedure.name.endswith("_c")


def is_subroutine(procedure):
    return procedure.c.returns == "int"


def has_ierror(procedure):
    return is_subroutine(procedure) and procedure.name != "MPI_Pcontrol"


def is_detach(procedure):
    """The address of a buffer is a result in mpi_f08 only."""
    return any(a.name == "buffer_addr" and a.what == "address" for a in procedure.arguments)


def buffers(procedure):
    return [a for a in procedure.arguments if a.what == "buffer"]


def has_descriptors(procedure):
    return bool(buffers(procedure))


def bare(procedure):
    return bare_name(procedure.name)


def specific(procedure, prefix=""):
    """The specific name in mpi_f08 (MPI 5.0, section 19.1.5)."""
    return prefix + procedure.name + ("_f08ts" if has_descriptors(procedure) else "_f08")


# ---- Fortran text


def fortran_lines(head, items, tail, indent, width=100):
    """`head(items)tail` of free form, continued with &."""
    lines, line = [], indent + head + "("
    for index, item in enumerate(items):
        piece = item + (", " if index + 1 < len(items) else "")
        if len(line) + len(piece) > width - 2:
            lines.append(line.rstrip() + " &")
            line = indent + "    "
        line += piece
    return "\n".join(lines + [line + ")" + tail])


def declaration(a, f08, nonblocking):
    """The declaration of an argument in an interface of a module."""
    intent = f", intent({a.intent})" if f08 or (a.intent == "in" and a.what != "buffer") else ""
    stars = "(*)" if a.array else ""
    kept = ", asynchronous" if nonblocking else ""
    if a.what == "buffer":
        if f08:
            direction = ", intent(in)" if a.intent == "in" else ""
            return f"type(*), dimension(..){direction}{kept} :: {a.name}"
        return (f"type(*), dimension(*){kept} :: {a.name}\n"
                f"            !GCC$ ATTRIBUTES NO_ARG_CHECK :: {a.name}\n"
                f"            !DIR$ IGNORE_TKR {a.name}")
    if a.what in ("int", "index", "indices", "weights"):
        return f"integer{intent} :: {a.name}{'(3, *)' if '3' in a.length else stars or ('(*)' if a.what in ('weights', 'indices') else '')}"
    if a.what == "wide":
        return f"integer(kind={WIDE[a.type]}){intent} :: {a.name}{stars}"
    if a.what in ("logical", "logical_raw"):
        return f"logical{intent} :: {a.name}{stars}"
    if a.what in ("handle", "handles"):
        kind = f"type({a.type})" if f08 else "integer"
        return f"{kind}{intent} :: {a.name}{stars}"
    if a.what == "status":
        if f08:
            return f"type(MPI_Status){intent} :: {a.name}{stars}"
        return f"integer{intent} :: {a.name}(MPI_STATUS_SIZE{', *' if a.array else ''})"
    if a.what == "string":
        return f"character(len=*){intent} :: {a.name}"
    if a.what == "strings":
        return f"character(len=*), intent(in) :: {a.name}(*)"
    if a.what == "strings2":
        return f"character(len=*), intent(in) :: {a.name}(count, *)"
    if a.what in ("attribute", "extra"):
        return f"integer(kind=MPI_ADDRESS_KIND) :: {a.name}"
    if a.what in ("old_attribute", "old_extra"):
        return f"integer :: {a.name}"
    if a.what == "address":
        return (f"type(c_ptr), intent(out) :: {a.name}" if f08
                else f"integer(kind=MPI_ADDRESS_KIND) :: {a.name}")
    if a.what == "callback":
        return f"procedure({a.type}) :: {a.name}" if f08 else f"external :: {a.name}"
    raise TableError(f"no declaration for {a.name}, which is '{a.what}'")


def is_nonblocking(procedure):
    """The library may use a buffer after the call has returned."""
    name = bare(procedure)
    return (any(a.name == "request" and a.intent == "out" for a in procedure.arguments)
            or bool(re.match(r"(Buffer|\w+_attach|Win_|Get_address|Free_mem|R?(Put|Get|Accumulate)|"
                             r"(Get_a|Fetch_|Compare_)|.*_(begin|end)(_c)?$)", name)))


def interface(procedure, name, f08, bind=None):
    """An interface body. bind is the C name where descriptors are passed."""
    names = [a.name for a in procedure.arguments]
    kept = is_nonblocking(procedure)
    tail = f' &\n            bind(C, name="{bind}")' if bind else ""
    if has_ierror(procedure):
        names = names + ["ierror"]
    word = "subroutine"
    if not is_subroutine(procedure):
        word = "function"
        result = {"double": "double precision", "MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)"}
        result = result[procedure.c.returns]
    lines = [fortran_lines(f"{word} {name}", names, tail, "        ")]
    lines.append("            import")
    # Array bounds may name other arguments: those are declared first.
    for a in sorted(procedure.arguments, key=lambda a: a.what == "strings2"):
        lines.append("            " + declaration(a, f08, kept))
    if "ierror" in names:
        optional = "optional, " if f08 else ""
        lines.append(f"            integer, {optional}intent(out) :: ierror")
    if word == "function":
        lines.append(f"            {result} :: {name}")
    lines.append(f"        end {word} {name}")
    return "\n".join(lines)


# ---- Constants

LENGTHS = re.compile(r"MPI_MAX_\w+$")
SKIPPED = re.compile(r"MPI_T_|MPI_F_|MPI\w*_(NULL_COPY|DUP|NULL_DELETE)_FN$|MPI_CONVERSION_FN_NULL|"
                     r"MPI_(BOTTOM|IN_PLACE|BUFFER_AUTOMATIC|ARGVS?_NULL|ERRCODES_IGNORE|"
                     r"STATUS(ES)?_IGNORE|UNWEIGHTED|WEIGHTS_EMPTY|DISPLACEMENT_CURRENT)$")


def constants():
    """(name, value, type of the handle or '') of every named constant, in the table's order."""
    _, table, _ = read_tables()
    result, values = [], {}
    for c in table:
        if SKIPPED.match(c.name):
            continue
        match = re.fullmatch(r"\(\((MPI_\w+)\)(0x[0-9a-f]+)\)", c.value)
        if match:
            kind, value = match[1], int(match[2], 16)
        elif c.value in values:
            kind, value = values[c.value]
        else:
            kind, value = "", int(c.value, 0)
        values[c.name] = (kind, value)
        # In Fortran the lengths do not count a terminating null character.
        if LENGTHS.match(c.name):
            value -= 1
        result.append((c.name, value, kind))
    result += [("MPI_STATUS_SIZE", 8, ""), ("MPI_SOURCE", 1, ""), ("MPI_TAG", 2, ""),
               ("MPI_ERROR", 3, ""), ("MPI_ADDRESS_KIND", 8, ""), ("MPI_COUNT_KIND", 8, ""),
               ("MPI_OFFSET_KIND", 8, ""), ("MPI_INTEGER_KIND", 4, "")]  # fmt: skip
    return result


ADDRESSES = """\
INTEGER MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
TARGET MPI_BUFFER_AUTOMATIC
INTEGER MPI_ERRCODES_IGNORE(1), MPI_UNWEIGHTED(1)
INTEGER MPI_WEIGHTS_EMPTY(1)
{statuses}
CHARACTER*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
COMMON /WEFTAD/ MPI_BOTTOM, MPI_IN_PLACE
COMMON /WEFTAD/ MPI_BUFFER_AUTOMATIC, MPI_ERRCODES_IGNORE
COMMON /WEFTAD/ MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
COMMON /WEFTAD/ MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
COMMON /WEFTAC/ MPI_ARGV_NULL, MPI_ARGVS_NULL"""
STATUSES_AS_INTEGERS = """\
INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)"""
STATUSES_AS_TYPES = "TYPE(MPI_Status) MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)"

COPY_FUNCTIONS = [f"MPI_{kind}{function}" for kind in ("", "COMM_", "TYPE_", "WIN_")
                  for function in ("NULL_COPY_FN", "DUP_FN", "NULL_DELETE_FN")]
CONVERSIONS = ["MPI_CONVERSION_FN_NULL", "MPI_CONVERSION_FN_NULL_C"]


def include_file():
    lines = ["! " + SPDX, "! MPI 5.0 for Fortran programs that include this file. Written by",
             "! abi/fortran.py from the tables in abi/; do not edit."]
    add = lines.append
    for name, value, _ in constants():
        add(f"      INTEGER {name}")
        add(f"      PARAMETER ({name}={value})")
    for name, value in (("MPI_SUBARRAYS_SUPPORTED", ".FALSE."),
                        ("MPI_ASYNC_PROTECTS_NONBLOCKING", ".FALSE.")):
        add(f"      LOGICAL {name}")
        add(f"      PARAMETER ({name}={value})")
    add("      INTEGER(KIND=MPI_OFFSET_KIND) MPI_DISPLACEMENT_CURRENT")
    add("      PARAMETER (MPI_DISPLACEMENT_CURRENT=-1)")
    for line in ADDRESSES.format(statuses=STATUSES_AS_INTEGERS).splitlines():
        add("      " + line)
    for name in COPY_FUNCTIONS + CONVERSIONS[:1]:
        add(f"      EXTERNAL {name}")
    for prefix in ("", "P"):
        for name in ("MPI_WTIME", "MPI_WTICK"):
            add(f"      DOUBLE PRECISION {prefix}{name}")
            add(f"      EXTERNAL {prefix}{name}")
        for name in ("MPI_AINT_ADD", "MPI_AINT_DIFF"):
            add(f"      INTEGER(KIND=MPI_ADDRESS_KIND) {prefix}{name}")
            add(f"      EXTERNAL {prefix}{name}")
    for line in lines:
        if len(line) > 72:
            raise TableError(f"mpif.h: longer than 72 columns: {line}")
    return "\n".join(lines) + "\n"


def integer_constants():
    lines = [f"    integer, parameter :: {name} = {value}"
             for name, value, kind in constants() if not kind]
    lines += ["    integer(kind=MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1"]
    return "\n".join(lines)


def module_head(text):
    return "\n".join("! " + line if line else "!" for line in [SPDX, *text])


def constants_module():
    return f"""\
{module_head(["Integer constants and kinds of MPI 5.0. Written by abi/fortran.py; do not edit."])}
module weft_mpi_constants
    implicit none
{integer_constants()}
end module weft_mpi_constants
"""


# ---- Module mpi

KEYVAL_FUNCTIONS = [("", "integer"), ("COMM_", "integer(kind=MPI_ADDRESS_KIND)"),
                    ("TYPE_", "integer(kind=MPI_ADDRESS_KIND)"),
                    ("WIN_", "integer(kind=MPI_ADDRESS_KIND)")]


def copy_function_interfaces(f08):
    handle = {"": "MPI_Comm", "COMM_": "MPI_Comm", "TYPE_": "MPI_Datatype", "WIN_": "MPI_Win"}
    lines = []
    for kind, width in KEYVAL_FUNCTIONS:
        if f08 and not kind:
            continue
        owner = f"type({handle[kind]})" if f08 else "integer"
        for function in ("NULL_COPY_FN", "DUP_FN"):
            name = f"MPI_{kind}{function}"
            lines.append(f"""\
        subroutine {name}(oldobject, keyval, extra_state, attribute_val_in, &
            attribute_val_out, flag, ierror)
            import
            {owner} :: oldobject
            integer :: keyval, ierror
            {width} :: extra_state, attribute_val_in, attribute_val_out
            logical :: flag
        end subroutine {name}""")
        name = f"MPI_{kind}NULL_DELETE_FN"
        lines.append(f"""\
        subroutine {name}(object, keyval, attribute_val, extra_state, ierror)
            import
            {owner} :: object
            integer :: keyval, ierror
            {width} :: attribute_val, extra_state
        end subroutine {name}""")
    return "\n".join(lines)


def only_fortran(f08, prefix):
    """Procedures that exist only in Fortran."""
    status = "type(MPI_Status)"
    buf = ("type(*), dimension(..), asynchronous :: buf" if f08 else
           "type(*), dimension(*), asynchronous :: buf\n"
           "            !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n"
           "            !DIR$ IGNORE_TKR buf")
    sync = f"{prefix}MPI_F_sync_reg" + ("_f08ts" if f08 else "")
    bind = f' bind(C, name="{prefix.lower()}mpi_f_sync_reg_f08ts_")' if f08 else ""
    return f"""\
    interface {prefix}MPI_Sizeof
        subroutine {prefix}MPI_Sizeof_ts(x, size, ierror) &
            bind(C, name="{prefix.lower()}mpi_sizeof_f08ts_")
            import
            type(*), dimension(..) :: x
            integer, intent(out) :: size
            integer, optional, intent(out) :: ierror
        end subroutine {prefix}MPI_Sizeof_ts
    end interface
    interface{' ' + prefix + 'MPI_F_sync_reg' if f08 else ''}
        subroutine {sync}(buf){bind}
            import
            {buf}
        end subroutine {sync}
    end interface
    interface {prefix}MPI_Status_f2f08
        subroutine {prefix}MPI_Status_f2f08_f08(f_status, f08_status, ierror)
            import
            integer, intent(in) :: f_status(MPI_STATUS_SIZE)
            {status}, intent(out) :: f08_status
            integer, optional, intent(out) :: ierror
        end subroutine {prefix}MPI_Status_f2f08_f08
    end interface
    interface {prefix}MPI_Status_f082f
        subroutine {prefix}MPI_Status_f082f_f08(f08_status, f_status, ierror)
            import
            {status}, intent(in) :: f08_status
            integer, intent(out) :: f_status(MPI_STATUS_SIZE)
            integer, optional, intent(out) :: ierror
        end subroutine {prefix}MPI_Status_f082f_f08
    end interface"""


def callback_interfaces():
    """The procedures that a program hands to MPI, as module mpi_f08 declares them."""
    _, _, types = read_tables()
    result = []
    for row in types:
        match = re.fullmatch(r"typedef (int|void) \((MPI_(?!T_|Copy_|Delete_)\w+)\)\((.*)\)", row)
        if not match:
            continue
        returned, name, parameters = match.groups()
        names, lines = [], []
        for p in split_parameters(parameters):
            base = p.type.rstrip(" *")
            if p.name in ("flag", "complete"):
                what = "logical"
            elif p.name == "extra_state" or p.name.startswith("attribute_val"):
                what = "integer(kind=MPI_ADDRESS_KIND)"
            elif base == "void":
                what = "type(c_ptr), value"
            elif base in WIDE:
                what = f"integer(kind={WIDE[base]})"
            else:
                what = "integer" if base == "int" else f"type({base})"
            if p.name:
                names.append(p.name)
                lines.append(f"            {what} :: {p.name}")
        if returned == "int":
            names.append("ierror")
            lines.append("            integer :: ierror")
        result += [fortran_lines(f"subroutine {name}", names, "", "        "), "            import",
                   *lines, f"        end subroutine {name}"]
    return "\n".join(["    abstract interface", *result, "    end interface", ""])


def module(name, title, f08, text):
    """Module mpi or mpi_f08, whose procedures are `text`."""
    handle = "type({0}), parameter :: {1} = {0}({2})" if f08 else "integer, parameter :: {1} = {2}"
    handles = "\n".join("    " + handle.format(kind, constant, value)
                        for constant, value, kind in constants() if kind)
    return f"""\
{module_head(title + ["Written by abi/fortran.py from the tables in abi/; do not edit."])}
module {name}
    use, intrinsic :: iso_c_binding, only: c_ptr
    use weft_mpi_constants
    use weft_mpi_types
    implicit none
    private :: c_ptr
{handles}
    logical, parameter :: MPI_SUBARRAYS_SUPPORTED = {".true." if f08 else ".false."}
    logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.
{ADDRESSES.format(statuses=STATUSES_AS_TYPES if f08 else STATUSES_AS_INTEGERS)}
{callback_interfaces() if f08 else ""}    interface
{copy_function_interfaces(f08)}
    end interface
    external :: {", ".join(CONVERSIONS if f08 else CONVERSIONS[:1])}
{text}
end module {name}
"""


def module_mpi(table):
    body = []
    for prefix in ("", "P"):
        single, generic = [], []
        for p in table:
            if is_large(p):
                continue
            name = prefix + p.name
            if any(a.what == "address" and a.name == "baseptr" for a in p.arguments):
                with_pointer = interface(p, name + "_cptr", False).replace(
                    "integer(kind=MPI_ADDRESS_KIND) :: baseptr", "type(c_ptr) :: baseptr")
                generic.append(f"    interface {name}\n{interface(p, name, False)}\n"
                               f"{with_pointer}\n    end interface")
            elif is_detach(p):
                # The address of the buffer: an argument of any type, which is not written.
                loose = [a._replace(what="buffer") if a.what == "address" else a
                         for a in p.arguments]
                single.append(interface(p._replace(arguments=loose), name, False))
            else:
                single.append(interface(p, name, False))
        body += ["    interface", "\n".join(single), "    end interface", "\n".join(generic),
                 only_fortran(False, prefix)]
    title = ["Module mpi: handles are INTEGERs, choice buffers take any type, kind and rank."]
    return module("mpi", title, False, "\n".join(body))


# ---- Module mpi_f08


def signature(procedure):
    """What distinguishes procedures whose arguments have the same names."""
    return [declaration(a, True, False).replace("MPI_ADDRESS_KIND", "8")
            .replace("MPI_COUNT_KIND", "8").replace("MPI_OFFSET_KIND", "8")
            for a in procedure.arguments]


def is_distinct(plain, large):
    """A generic name can stand for both forms."""
    if plain.explicit or len(plain.arguments) != len(large.arguments):
        return not plain.explicit
    return signature(plain) != signature(large)


def in_f08(procedure, prefix):
    bind = None
    name = specific(procedure, prefix)
    if has_descriptors(procedure):
        bind = f"{prefix.lower()}mpi_{bare(procedure).lower()}_f08ts_"
    return interface(procedure, name, True, bind)


def module_f08(table):
    by_name = {p.name: p for p in table}
    body = []
    for prefix in ("", "P"):
        for p in table:
            if p.old or is_large(p) and is_distinct(by_name[p.name[:-2]], p):
                continue
            if not is_subroutine(p):
                body.append(f"    interface\n{interface(p, prefix + p.name, True)}\n"
                            "    end interface")
                continue
            members = [in_f08(p, prefix)]
            large = by_name.get(p.name + "_c")
            if large and is_distinct(p, large):
                members.append(in_f08(large, prefix))
            body.append("\n".join([f"    interface {prefix}{p.name}", *members,
                                   "    end interface"]))
        body.append(only_fortran(True, prefix))
    title = ["Module mpi_f08: handles are types, choice buffers are described by the compiler, so",
             "that sections with gaps are taken as they are."]
    return module("mpi_f08", title, True, "\n".join(body))


# ---- The glue

C_TYPES = {"int": "int", "index": "int", "indices": "int", "logical": "int", "weights": "int",
           "handle": "int", "handles": "int"}  # fmt: skip


def c_kind(a):
    return "Type" if a.type == "MPI_Datatype" else a.type[len("MPI_"):]


def c_parameters(procedure, descriptors, bind_c=True):
    """Parameters of the external procedure: everything by reference, lengths of strings last. With
    descriptors, those of bind(C) describe strings, too."""
    result, lengths = [], []
    for a in procedure.arguments:
        const = "const " if a.intent == "in" else ""
        if a.what == "buffer":
            result.append(f"{'CFI_cdesc_t' if descriptors else 'void'} *{a.name}")
        elif a.what in ("string", "strings", "strings2"):
            if descriptors and bind_c:
                result.append(f"{const}CFI_cdesc_t *{a.name}")
            else:
                result.append(f"{const}char *{a.name}")
                lengths.append(f"size_t {a.name}_length")
        elif a.what == "status":
            result.append(f"{const}int *{a.name}")
        elif a.what == "wide":
            result.append(f"{const}{a.type} *{a.name}")
        elif a.what == "callback":
            result.append(f"weft_fortran_procedure *{a.name}")
        elif a.what in ("attribute", "extra"):
            result.append(f"MPI_Aint *{a.name}")
        elif a.what in ("old_attribute", "old_extra"):
            result.append(f"int *{a.name}")
        elif a.what in ("address", "logical_raw"):
            result.append(f"void *{a.name}")
        elif "3" in a.length:
            result.append(f"int (*{a.name})[3]")
        else:
            result.append(f"{const}{C_TYPES[a.what]} *{a.name}")
    if has_ierror(procedure):
        result.append("int *ierror")
    return result + lengths


def c_names(procedure, descriptors, bind_c=True):
    """The parameters as they are passed on, in the same order."""
    return [re.search(r"(\w+)(\)\[3\])?$", p)[1]
            for p in c_parameters(procedure, descriptors, bind_c)]


def described_names(procedure, bind_c):
    """What stands for each argument that comes with a descriptor, where there is none."""
    strings = [a.name for a in procedure.arguments if a.what == "string" and bind_c]
    return ({n: f"{n}->base_addr" for n in strings} |
            {f"{n}_length": f"{n}->elem_len" for n in strings})


def completes(procedure, a):
    """The call may find that the operation of this request is complete."""
    return a.type == "MPI_Request" and a.intent != "out" and "complete" in procedure.c.does.split()


def starts(procedure):
    return "start" in procedure.c.does.split()


def body(procedure):
    """Statements before the call, its arguments, and the statements after it."""
    before, call, after = [], ["0"] * procedure.dropped, []
    if any(a.length == "sends" for a in procedure.arguments):
        neighbors = "true" if "neighbor" in bare(procedure).lower() else "false"
        before += ["int sends, receives;", f"weft_fortran_blocks(weft_Comm_of(*comm), {neighbors}, "
                                           "sendbuf, &sends, &receives);"]
    for a in procedure.arguments:
        n = a.name
        if a.what == "buffer":
            call.append(f"weft_fortran_buffer({n})")
        elif a.what in ("logical_raw", "address"):
            call.append(n)
            if n == "buffer_addr":
                after.append(f"if (code == MPI_SUCCESS)\n        weft_fortran_detached({n});")
        elif a.what == "status":
            call.append(f"(MPI_Status *){n}" if a.intent != "out" else
                        f"weft_fortran_{'statuses' if a.array else 'status'}({n})")
        elif a.what in ("int", "wide"):
            call.append(n if a.array or a.intent != "in" else f"*{n}")
        elif a.what == "weights":
            call.append(f"weft_fortran_weights({n})")
        elif a.what == "handle":
            kind = c_kind(a)
            if a.intent == "in":
                call.append(f"weft_{kind}_of(*{n})")
                if completes(procedure, a):
                    before.append(f"struct weft_kept *kept_{n} = weft_fortran_take(1, {n});")
                    after.append(f"weft_fortran_settle(kept_{n}, 1, {n}, NULL);")
            else:
                if starts(procedure):
                    before.append(f"weft_fortran_start(1, {n});")
                if completes(procedure, a):
                    before.append(f"struct weft_kept *kept_{n} = weft_fortran_take(1, {n});")
                    after.append(f"weft_fortran_settle(kept_{n}, 1, {n}, &c_{n});")
                start = f"weft_{kind}_of(*{n})" if a.intent == "inout" else f"{null_of(a)}"
                before.append(f"{a.type} c_{n} = {start};")
                call.append(f"&c_{n}")
                made = f"PMPI_{kind}_toint" if a.intent == "out" else f"weft_{kind}_integer"
                after.append(f"*{n} = {made}(c_{n});")
        elif a.what == "handles":
            kind = c_kind(a)
            length = a.length if a.length in ("sends", "receives") else f"*{a.length}"
            before.append(f"{a.type} few_{n}[WEFT_FORTRAN_FEW], *c_{n} = "
                          f"weft_fortran_array({length}, few_{n}, sizeof *c_{n});")
            before.append(f"few_{n}[0] = {null_of(a)};")
            before.append(f"for (int i = 0; i < {length}; i++)\n"
                          f"        c_{n}[i] = weft_{kind}_of({n}[i]);")
            call.append(f"c_{n}")
            if starts(procedure):
                before.append(f"weft_fortran_start(*{a.length}, {n});")
            if completes(procedure, a):
                before.append(f"struct weft_kept *kept_{n} = weft_fortran_take(*{a.length}, {n});")
                after.append(f"weft_fortran_settle(kept_{n}, *{a.length}, {n}, c_{n});")
            if a.intent != "in":
                after.append(f"for (int i = 0; i < *{a.length}; i++)\n"
                             f"        {n}[i] = weft_{kind}_integer(c_{n}[i]);")
            after.append(f"weft_fortran_release(c_{n}, few_{n});")
        elif a.what == "logical" and a.array and a.intent == "in":
            before.append(f"int few_{n}[WEFT_FORTRAN_FEW], *c_{n} = "
                          f"weft_fortran_array(*{a.length}, few_{n}, sizeof *c_{n});")
            before.append(f"for (int i = 0; i < *{a.length}; i++)\n"
                          f"        c_{n}[i] = weft_fortran_truth({n}[i]);")
            call.append(f"c_{n}")
            after.append(f"weft_fortran_release(c_{n}, few_{n});")
        elif a.what == "logical" and not a.array:
            if a.intent == "in":
                call.append(f"weft_fortran_truth(*{n})")
            else:
                before.append(f"int c_{n} = 0;")
                call.append(f"&c_{n}")
                after.append(f"*{n} = weft_fortran_logical(c_{n});")
        elif a.what == "index":
            before.append(f"int c_{n} = MPI_UNDEFINED;")
            call.append(f"&c_{n}")
            after.append(f"*{n} = c_{n} < 0 ? c_{n} : c_{n} + 1;")
        elif a.what == "indices":
            call.append(n)
            before.append(f"*{a.length} = MPI_UNDEFINED;")
            after.append(f"for (int i = 0; i < *{a.length}; i++)\n        {n}[i]++;")
        elif a.what == "string" and a.intent == "in":
            before.append(f"char few_{n}[WEFT_FORTRAN_TEXT];")
            copy = "weft_fortran_name" if procedure.leading else "weft_fortran_text"
            before.append(f"char *c_{n} = {copy}({n}, {n}_length, few_{n});")
            call.append(f"c_{n}")
            after.append(f"weft_fortran_release(c_{n}, few_{n});")
        elif a.what == "string":
            if not a.length:
                raise TableError(f"fortran.tsv does not define how long {procedure.name}'s {n} is")
            before.append(f"char c_{n}[{a.length}] = \"\";")
            call.append(f"c_{n}")
            after.append(f"if (code == MPI_SUCCESS)\n"
                         f"        weft_fortran_pad({n}, {n}_length, c_{n});")
        else:
            raise TableError(f"{procedure.name}: '{a.name}' is '{a.what}', which needs hand-written "
                             "glue")
    return before, call, after


def null_of(a):
    return "MPI_DATATYPE_NULL" if a.type == "MPI_Datatype" else f"{a.type.upper()}_NULL"


def returns(procedure):
    return "void" if is_subroutine(procedure) else procedure.c.returns


def glue_of(procedure):
    name = bare(procedure)
    lower = name.lower()
    before, call, after = body(procedure)
    parameters = c_parameters(procedure, False)
    if not has_ierror(procedure):
        returned = "" if is_subroutine(procedure) else "return "
        parts = [wrap(f"{returns(procedure)} FORTRAN({lower})(", parameters or ["void"], ")"), "{",
                 wrap(f"    {returned}CALL({name})(", call, ");"), "}",
                 f"WEFT_FORTRAN_NAMES({lower}, {name.upper()})", ""]
        return "\n".join(parts)
    parts = [wrap(f"static inline void plain_{lower}(", parameters, ")"), "{"]
    parts += [f"    {line}" for line in before]
    parts.append(wrap(f"    int code = CALL({name})(", call, ");"))
    parts += ["    finish(ierror, code);"]
    parts += [f"    {line}" for line in after] + ["}", ""]
    names = c_names(procedure, False)
    condition = not_direct(procedure)
    if condition:
        parts += [wrap(f"static WEFT_GENERAL void general_{lower}(", parameters, ")"), "{",
                  wrap(f"    plain_{lower}(", names, ");"), "}", ""]
    if is_detach(procedure):
        parts += [wrap(f"void FORTRAN({lower}_f08)(", parameters, ")"), "{",
                  wrap(f"    plain_{lower}(", names, ");"), "}", ""]
        names = [n.replace("buffer_addr", "&address") for n in names]
    if not (is_large(procedure) and has_descriptors(procedure)):
        parts += [wrap(f"void FORTRAN({lower})(", parameters, ")"), "{"]
        if is_detach(procedure):
            parts += ["    void *address;", "    (void)buffer_addr;"]
        if condition:
            parts += [f"    if (weft_unlikely({condition})) {{",
                      wrap(f"        general_{lower}(", names, ");"),
                      "        return;", "    }"]
        parts += [wrap(f"    plain_{lower}(", names, ");"), "}",
                  f"WEFT_FORTRAN_NAMES({lower}, {name.upper()})", ""]
    return "\n".join(parts)


DIRECT = re.compile(r"I?[bsr]?send|I?recv", re.IGNORECASE)


def not_direct(procedure, descriptors=False):
    """The condition under which a send or receive is converted by a function of its own: a section
    that may have gaps, an address with a meaning, or a handle that is not predefined. Then the
    common case calls the C function alone and saves no registers. Empty for other procedures."""
    if not DIRECT.fullmatch(bare(procedure)):
        return ""
    address = "buf->base_addr" if descriptors else "buf"
    tests = ["!weft_fortran_is_contiguous(buf)"] * descriptors
    tests += [f"weft_fortran_is_special({address})"]
    tests += [f"!weft_fortran_is_predefined(*{a.name})" for a in procedure.arguments
              if a.what == "handle" and a.intent == "in"]
    return " ||\n        ".join(tests)


# ---- Sections with gaps: see src/fortran/section.h


def passed_buffers(procedure):
    """Buffers that may be sections with gaps. The others are addresses that the call does not use,
    or belong to a call that has begun."""
    if re.match(r"Get_address|Free_mem|Win_detach|File_\w+_end$", bare(procedure)):
        return []
    return buffers(procedure)


def is_refused(procedure):
    """The buffer is used after the call, and has to be one piece of memory."""
    return bool(re.match(r"(Win_(create|attach)|\w+_attach(_buffer)?|Buffer_attach)(_c)?$",
                         bare(procedure)))


def call_of(procedure):
    """The struct weft_fortran_call of a procedure."""
    fields = [f'.name = "{procedure.name}"']
    for kind in ("Comm", "File", "Win", "Session"):
        handles = [a.name for a in procedure.arguments
                   if a.type == f"MPI_{kind}" and a.intent == "in"]
        if handles:
            fields += [f".on = WEFT_FORTRAN_{kind.upper()}", f".handle = *{handles[0]}"]
            break
    fields.append(".ierror = ierror")
    if any(a.type == "MPI_Op" for a in procedure.arguments):
        fields.append(".operation = true")
    if "neighbor" in bare(procedure).lower():
        fields.append(".neighbors = true")
    return wrap("struct weft_fortran_call call = {", fields, "};")


REDUCTION = re.compile(r"I?(reduce|allreduce|scan|exscan|reduce_local|reduce_scatter|"
                       r"reduce_scatter_block)(_init)?(_c)?$", re.IGNORECASE)
ROOTED = re.compile(r"I?(gatherv?|scatterv?|reduce|bcast)(_init)?(_c)?$", re.IGNORECASE)


def refusal(procedure, call, names):
    """How the other ranks of a collective call get the error of one that does not make it: by a call
    without a datatype. Nothing for other calls."""
    name = bare(procedure)
    types = [a for a in procedure.arguments if a.type == "MPI_Datatype" and a.what == "handle"]
    arrays = [a for a in procedure.arguments if a.type == "MPI_Datatype" and a.what == "handles"]
    if not (REDUCTION.match(name) and not name.startswith("Reduce_local") or ROOTED.match(name)
            or re.search(r"gatherv?(_init)?(_c)?$|alltoall[vw]?(_init)?(_c)?$", name, re.IGNORECASE)
            or re.match(r"File_\w+_(all|ordered)(_begin)?(_c)?$", name)):
        return []
    none = {a.name: "&none" for a in types} | {a.name: "none" for a in arrays}
    made = "*none = weft_fortran_no_types(sends > receives ? sends : receives)" if arrays else \
        "none = weft_Type_integer(MPI_DATATYPE_NULL)"
    lines = [f"int {made};", wrap(f"WEFT_FORTRAN_REFUSE(&call, {call}(",
                                  [none.get(n, n) for n in names], "));")]
    return lines + ["free(none);"] * bool(arrays)


def numbers(a):
    return f"weft_fortran_{'wide' if a.what == 'wide' else 'ints'}({a.name})"


def used_count(procedure, buffer, many):
    """How many blocks the call uses on this rank: `many`, or none if only others use the buffer."""
    rooted = ROOTED.match(bare(procedure))
    if not rooted:
        return many
    what = rooted[1].lower()
    root, other = "weft_fortran_is_root(*comm, *root)", "weft_fortran_in_group(*comm, *root)"
    if what == "bcast":
        used = f"{root} || {other}"
    else:
        of_root = "sendbuf" if what.startswith("scatter") else "recvbuf"
        used = root if buffer.name == of_root else other
    return f"{used} ? {many} : 0"


def reduction(procedure, buffer):
    """The call that prepares a buffer of a reduction."""
    what = REDUCTION.match(bare(procedure))[1].lower()
    count, datatype = [b for b in procedure.arguments if b.what in ("int", "wide") and "count" in b.name
                       or b.name == "datatype"]
    section = f"&s_{buffer.name}, &call"
    if what in ("reduce_scatter", "reduce_scatter_block"):
        if what == "reduce_scatter":
            own, total = (f"weft_fortran_{f}(*comm, {numbers(count)})" for f in ("own", "sum"))
        else:
            own, total = f"*{count.name}", f"weft_fortran_size(*comm) * (MPI_Count)*{count.name}"
        if buffer.name == "sendbuf":
            return f"weft_fortran_copy({section}, 1, {total}, *datatype)"
        in_place = "weft_fortran_is_in_place(sendbuf)"
        return f"weft_fortran_copy_first({section}, {own}, {in_place} ? {total} : {own}, *datatype)"
    if what == "exscan" and buffer.name == "recvbuf":
        first = f"weft_fortran_is_first(*comm) ? 0 : *{count.name}"
        in_place = "weft_fortran_is_in_place(sendbuf)"
        return (f"weft_fortran_copy_first({section}, {first}, {in_place} ? *{count.name} : {first}, "
                "*datatype)")
    return (f"weft_fortran_copy({section}, {used_count(procedure, buffer, '1')}, *{count.name}, "
            f"*{datatype.name})")


def prepared(procedure, buffer):
    """The call that prepares a buffer which may have gaps, and what to pass instead of arguments."""
    name, section = bare(procedure), f"s_{buffer.name}"
    passed = {buffer.name: f"{section}.address"}
    arguments = procedure.arguments
    rest = [b for b in arguments[arguments.index(buffer) + 1:] if b.name != "partitions"]
    if re.match("Fetch_and_op|Compare_and_swap", name):
        return f"weft_fortran_one(&call, {buffer.name}, *datatype)", {}
    packed = {"outbuf": "outsize"} if name.startswith("Pack") else {"inbuf": "insize"}
    if re.match("(Pack|Unpack)(_external)?(_c)?$", name):
        if buffer.name in packed:
            size = packed[buffer.name]
            return (f"weft_fortran_copy(&{section}, &call, 1, *{size}, "
                    "weft_Type_integer(MPI_BYTE))"), passed
        count, datatype = [b for b in rest if b.name in ("incount", "outcount", "datatype")]
        return f"weft_fortran_copy(&{section}, &call, 1, *{count.name}, *datatype)", passed
    if REDUCTION.match(name):
        return reduction(procedure, buffer), passed
    if rest[0].array:
        many = "sends" if buffer.name == "sendbuf" else "receives"
        counts, displs, datatype = rest[:3]
        many = used_count(procedure, buffer, many)
        each = f"&{section}, &call, {many}, {numbers(counts)}, {numbers(displs)}"
        if datatype.what == "handles":
            return f"weft_fortran_copy_each({each}, {datatype.name})", passed
        passed[datatype.name] = f"&{section}.type"
        return f"weft_fortran_describe_each({each}, *{datatype.name})", passed
    count, datatype = rest[:2]
    if not count.name.endswith("count") or datatype.what != "handle":
        raise TableError(f"{procedure.name}: no rule for sections as {buffer.name}")
    passed[count.name] = f"&{section}.{'count' if count.what == 'wide' else 'small_count'}"
    passed[datatype.name] = f"&{section}.type"
    side = {"sendbuf": "scatter", "recvbuf": "gather"}.get(buffer.name, "none")
    if re.search(f"({side}|alltoall)(_init)?(_c)?$", name, re.IGNORECASE):
        many, function = "sends" if buffer.name == "sendbuf" else "receives", "describe_blocks"
    else:
        many = "*partitions" if any(b.name == "partitions" for b in arguments) else "1"
        function = "describe"
    many = used_count(procedure, buffer, many)
    return (f"weft_fortran_{function}(&{section}, &call, {many}, *{count.name}, "
            f"*{datatype.name})"), passed


def with_gaps(procedure, bind_c):
    """What is done when a buffer is a section with gaps."""
    name, lower = bare(procedure), bare(procedure).lower()
    some = passed_buffers(procedure)
    names = c_names(procedure, False)
    lines = [call_of(procedure)]
    if is_refused(procedure):
        lines.append("weft_fortran_refuse(&call);")
        if name.startswith("Win_create"):
            passed = {"base": "base->base_addr", "size": "&none"}
            lines += ["MPI_Aint none = -1;",
                      wrap(f"WEFT_FORTRAN_REFUSE(&call, plain_{lower}(",
                           [passed.get(n, n) for n in names], "));")]
        return lines
    replaced = {a.name: f"{a.name}->base_addr" for a in some} | described_names(procedure, bind_c)
    conditions, used = [], []
    for a in some:
        condition, passed = prepared(procedure, a)
        head, _, rest = condition.partition("(")
        conditions.append(wrap(" " * 8 + head + "(", rest[:-1].split(", "), ")").strip())
        replaced |= passed
        if passed:
            used.append(a)
            result = "false" if a.intent == "in" else "true"
            lines.append(f"struct weft_fortran_section s_{a.name} = "
                         f"WEFT_FORTRAN_SECTION({a.name}, {result});")
    joined = " &&\n        ".join(conditions)
    counted = [word for word in ("sends", "receives") if re.search(rf"\b{word}\b", joined)]
    if counted:
        neighbors = "true" if "neighbor" in lower else "false"
        lines += ["int sends, receives;",
                  f"weft_fortran_blocks(weft_Comm_of(*comm), {neighbors}, sendbuf->base_addr, "
                  "&sends, &receives);"]
    if name.startswith("Pack"):
        lines.append("MPI_Count from = *position;")
    lines.append(f"if ({joined}) {{")
    lines.append(wrap(f"    plain_{lower}(", [replaced.get(n, n) for n in names], ");"))
    if name.startswith("Pack"):
        lines.append("    weft_fortran_narrow(&s_outbuf, from, *position);")
    copied = [a for a, condition in zip(some, conditions)
              if re.match("weft_fortran_(copy|describe_)", condition)]
    if copied and any(a.name == "request" and a.intent == "out" for a in procedure.arguments):
        kept = [next((f"&s_{a.name}" for a in copied if (a.intent == "in") == is_in), "NULL")
                for is_in in (True, False)]
        persistent = "true" if re.search("_init(_c)?$", name) else "false"
        lines.append(f"    weft_fortran_keep(*request, {persistent}, {kept[0]}, {kept[1]});")
    else:
        lines += [f"    weft_fortran_unpack(&s_{a.name});" for a in copied if a.intent != "in"]
    unchanged = {a.name: f"{a.name}->base_addr" for a in some} | described_names(procedure, bind_c)
    refused = refusal(procedure, f"plain_{lower}", [unchanged.get(n, n) for n in names])
    if refused:
        lines += ["} else {", *("    " + line.replace("\n", "\n    ") for line in refused)]
    lines.append("}")
    lines += [f"weft_fortran_forget(&s_{a.name});" for a in used]
    return lines


def ts_glue_of(procedure, bind_c):
    """The procedure of mpi_f08 whose buffers come with descriptors; those of the compiler's own, if
    it is not bind(C), are converted first."""
    lower = bare(procedure).lower()
    parameters = c_parameters(procedure, True, bind_c)
    some = passed_buffers(procedure)
    replaced = {a.name: f"{a.name}->base_addr" for a in buffers(procedure)}
    replaced |= described_names(procedure, bind_c)
    plain = [replaced.get(n, n) for n in c_names(procedure, False)]
    parts = []
    condition = not_direct(procedure, True)
    gaps = " || ".join(f"weft_fortran_has_gaps({a.name})" for a in some)
    names = c_names(procedure, True, bind_c)
    if some and not is_refused(procedure):
        # Apart, so that a call without gaps saves no registers for it.
        parts += [wrap(f"static WEFT_COLD void gaps_{lower}(", parameters, ")"), "{"]
        parts += ["    " + line.replace("\n", "\n    ") for line in with_gaps(procedure, bind_c)]
        parts += ["}", ""]
    if condition:
        parts += [wrap(f"static WEFT_GENERAL void general_ts_{lower}(", parameters, ")"), "{",
                  f"    if ({gaps})", wrap(f"        gaps_{lower}(", names, ");"), "    else",
                  wrap(f"        general_{lower}(", plain, ");"), "}", ""]
    parts += [wrap(f"void FORTRAN_TS({lower})(", parameters, ")"), "{"]
    if not bind_c:
        for a in buffers(procedure):
            parts += [f"    struct weft_front_section own_{a.name};",
                      f"    {a.name} = weft_front_described({a.name}, &own_{a.name});"]
    if some:
        called = "general_ts" if condition else "gaps"
        parts.append(f"    if (weft_unlikely({condition or gaps})) {{")
        parts += ([f"        {line}" for line in with_gaps(procedure, bind_c)]
                  if is_refused(procedure) else [wrap(f"        {called}_{lower}(", names, ");")])
        parts += ["        return;", "    }"]
    parts += [wrap(f"    plain_{lower}(", plain, ");"), "}", ""]
    text = "\n".join(parts)
    return text.replace(f"plain_{lower}(", f"FORTRAN({lower})(") if procedure.hand else text


# Names that MPI-1 had for procedures; front ends have them.
MPI_1 = {"Comm_get_errhandler": "errhandler_get", "Comm_set_errhandler": "errhandler_set"}


def alias_of(procedure, bind_c):
    lower = bare(procedure).lower()
    lines = []
    if has_descriptors(procedure) and not is_large(procedure):
        lines.append(f"WEFT_FORTRAN_CHOICE({lower})")
    if not is_subroutine(procedure):
        lines.append(f"WEFT_FORTRAN_CHOICE({lower})" if bind_c else
                     f"WEFT_FORTRAN_ALIAS({lower}, {lower}_f08)")
    if any(a.name == "baseptr" for a in procedure.arguments):
        lines.append(f"WEFT_FORTRAN_SECOND({lower}, {lower}_cptr, {lower.upper()}_CPTR)")
    if bare(procedure) in MPI_1:
        lines.append(f"WEFT_FORTRAN_MPI_1({lower}, {MPI_1[bare(procedure)]}, {MPI_1[bare(procedure)].upper()})")
    if not has_descriptors(procedure) and is_subroutine(procedure) and not is_detach(procedure):
        lines.append(f"WEFT_FORTRAN_ALIAS({lower}, {lower}_f08)")
    return "\n".join(lines)


def glue(table, bind_c=True):
    parts = ["// " + SPDX,
             note("The external procedures of Fortran that follow from the tables: each takes "
                  "everything by reference, converts it and calls the C function. Written by "
                  "abi/fortran.py; do not edit."),
             '#include "hand.h"', '#include "fortran/glue.h"', '#include "fortran/section.h"', ""]
    for p in table:
        if is_extension(p.name):
            parts.append(of_extension(glue_of(p)))
            continue
        if not p.hand:
            parts.append(glue_of(p))
        if has_descriptors(p):
            parts.append(ts_glue_of(p, bind_c))
        alias = alias_of(p, bind_c)
        if alias and not p.hand:
            parts += [alias, ""]
    return "\n".join(parts)


def of_extension(text):
    """Text of the glue with the names of an extension, which begin with mpix_."""
    text = text.replace("WEFT_FORTRAN_NAMES(", "WEFT_FORTRAN_EXTENSION_NAMES(")
    return re.sub(r"\b(FORTRAN|CALL)\(", r"\1_EXTENSION(", text)


def hand_header(table, bind_c=True):
    parts = ["// " + SPDX,
             note("Prototypes of every external procedure of Fortran. Written by abi/fortran.py; "
                  "do not edit."),
             "#ifndef WEFT_FORTRAN_HAND_H", "#define WEFT_FORTRAN_HAND_H", "",
             '#include "fortran/glue.h"', ""]
    for p in table:
        lower = bare(p).lower()
        parameters = c_parameters(p, False) or ["void"]
        declared = wrap(f"WEFT_FORTRAN_LINKAGE {returns(p)} FORTRAN({lower})(", parameters, ");")
        parts.append(of_extension(declared) if is_extension(p.name) else declared)
        if has_descriptors(p):
            parts.append(wrap(f"WEFT_FORTRAN_LINKAGE void FORTRAN_TS({lower})(",
                              c_parameters(p, True, bind_c), ");"))
        if is_detach(p):
            parts.append(wrap(f"WEFT_FORTRAN_LINKAGE void FORTRAN({lower}_f08)(", parameters, ");"))
    parts += ["", "#endif", ""]
    return "\n".join(parts)


def trampolines():
    n = 256
    lines = ["#define EACH(T)", *textwrap.wrap(" ".join(f"T({i})" for i in range(n)), WIDTH - 6)]
    lines = [lines[0], *("    " + line for line in lines[1:])]
    return "\n".join(["// " + SPDX, note("Written by abi/fortran.py; do not edit."),
                      f"enum {{ TRAMPOLINES = {n} }};",
                      *(f"{line:{WIDTH - 1}}\\" for line in lines[:-1]), lines[-1], ""])


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: abi/fortran.py DIRECTORY")
    directory = Path(arguments[0])
    try:
        table = procedures()
        outputs = {
            "mpif.h": include_file(),
            "weft_mpi_constants.f90": constants_module(),
            "mpi.f90": module_mpi(table),
            "mpi_f08.f90": module_f08(table),
            "glue.c": formatted(glue(table)),
            "hand.h": formatted(hand_header(table)),
            "mpich/glue.c": formatted(glue(table, False)),
            "mpich/hand.h": formatted(hand_header(table, False)),
            "trampolines.h": trampolines(),
        }
    except TableError as error:
        sys.exit(f"abi/fortran.py: {error}")
    for name, text in outputs.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
