#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a front end: the entry points of another MPI's binary interface, on those of libmpi_abi.

    abi/frontend.py ompi40 DIRECTORY

    entries.h    prototypes with the types of that MPI (front_Comm, ...), and names of symbols
    entries.c    functions that follow from the tables: each converts its arguments, calls
                 weft_abi_X (the private name of MPI_X) and converts the results
    tables.h     the constants of both sides, in pairs, and lengths of strings
    attributes.h predefined functions for attributes, for callback.c
    objects.c    data objects that are handles of that MPI (with pointers as handles)
    fortran/mpi.h    that MPI's mpi.h, for the sources of src/fortran
    fortran/modules.h    the objects and procedures of its Fortran modules

What is converted follows from the kinds of the parameters in functions.tsv.

Invariant: a generated file is never edited by hand.
"""

import re
import sys
from pathlib import Path

from tables import (SPDX, TableError, aligned, bare_name, declared, is_extension, note, parameters_of, read_tables, rows, statement,
                    wrap)

KINDS = "Comm Datatype Errhandler File Group Info Message Op Request Session Win".split()
HANDLE = re.compile(rf"\bMPI_({'|'.join(KINDS)})\b")

# Constants, by the kind of a parameter: what their names begin with.
GROUPS = {
    "error": r"MPIX?_(T_)?ERR_|MPI_SUCCESS$", "keyval": r"MPIX_FT$|MPI_(KEYVAL_INVALID|TAG_UB|HOST|IO|"
    r"WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE|WIN_(BASE|SIZE|DISP_UNIT|"
    r"CREATE_FLAVOR|MODEL))$",
    "thread": r"MPI_THREAD_", "assert": r"MPI_MODE_NO", "lock": r"MPI_LOCK_",
    "split": r"MPI_COMM_TYPE_", "seek": r"MPI_SEEK_", "amode": r"MPI_MODE_(?!NO)",
    "typeclass": r"MPI_TYPECLASS_", "combiner": r"MPI_COMBINER_", "order": r"MPI_ORDER_",
    "topology": r"MPI_(CART|GRAPH|DIST_GRAPH)$", "compare": r"MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)$",
    "distrib": r"MPI_DISTRIBUTE_(BLOCK|CYCLIC|NONE)", "darg": r"MPI_DISTRIBUTE_DFLT_DARG",
    "flavor": r"MPI_WIN_FLAVOR_", "model": r"MPI_WIN_(UNIFIED|SEPARATE)",
    "rank": r"MPI_(ANY_SOURCE|PROC_NULL|ROOT)$", "tag": r"MPI_ANY_TAG$",
    "verbosity": r"MPI_T_VERBOSITY_", "bind": r"MPI_T_BIND_", "scope": r"MPI_T_SCOPE_",
    "class": r"MPI_T_PVAR_CLASS_", "ordering": r"MPI_T_SOURCE_", "displacement": r"MPI_DISPLACEMENT_CURRENT",
}  # fmt: skip
BITS = ("assert", "amode")
# With handles that are ints, the core does more in calls of most messages: see core/mpi/frontend.h.
INTEGERS = {"MPI_Isend": "isend_integer", "MPI_Irecv": "irecv_integer"}
# Written in src/frontend.
HAND = re.compile(
    r"^MPI_(Op_create(_c)?|\w+_create_errhandler|(Comm|Type|Win)_create_keyval|Keyval_create|"
    r"Grequest_start|Register_datarep(_c)?|(Comm|Type|Win)_get_attr|Attr_get|Comm_set_errhandler|"
    r"(Buffer_attach|(Comm|Session)_attach_buffer)(_c)?|Intercomm_create(_from_groups)?|"
    r"Comm_spawn(_multiple)?|Type_get_contents(_c)?|Type_create_struct|"
    r"Get_version|Get_library_version|Pcontrol|Status_(get|set)_(source|tag|error)|Wait|"
    r"T_[cp]var_handle_alloc)$")
# The same, in one front end.
HAND_OF = {("ompi40", "MPI_Comm_split_type"), ("mpich12", "MPI_T_category_get_num_events"),
           ("mpich12", "MPI_T_category_get_events")}
# Functions that had another name in MPI-1; those that are written by hand have it there.
MPI_1 = {"MPI_Get_address": ["MPI_Address"], "MPI_Comm_get_errhandler": ["MPI_Errhandler_get"],
         "MPI_Type_create_hvector": ["MPI_Type_hvector"], "MPI_Type_create_hindexed": ["MPI_Type_hindexed"]}
LEFT_OUT = re.compile(r"^MPI_(\w+_(to|from)int$|T_event_)")


class Interface:
    def __init__(self, name):
        self.name = name
        self.rows = list(rows(f"{name}.tsv", 4))
        self.functions = {row[1] for row in self.rows if row[0] == "function"}
        self.pointers = any(row[2].startswith("&") for row in self.rows if row[0] == "handle")

    def of(self, *kinds):
        return [row[1:] for row in self.rows if row[0] in kinds]

    def is_short(self, name):
        """True if this MPI's constant of a length is less than the standard's."""
        return any(row[0] == name and int(row[1]) < int(row[2]) for row in self.of("length"))

    def has(self, function):
        """Functions of newer versions of that MPI are there too; those of MPI_T only if known."""
        return not LEFT_OUT.match(function) and (not function.startswith("MPI_T_") or
                                                 function in self.functions)


def foreign(text):
    """The types of parameters and results as the other MPI has them."""
    text = re.sub(r"\bMPI_\w+_function(_c)? \*", "front_function *", text)
    text = re.sub(r"\bMPI_Status\b", "front_Status", text)
    return HANDLE.sub(r"front_\1", text)


def role_of(parameter):
    """The constants that an int may be, or None."""
    word = {"source": "rank"}.get(parameter.kind.word, parameter.kind.word)
    return word if word in GROUPS and "MPI_Aint" not in parameter.type and "MPI_Count" not in parameter.type else None


class Call:
    """The conversions around one call."""

    def __init__(self, function, interface):
        self.function, self.interface = function, interface
        self.first, self.before, self.arguments, self.after, self.always = [], [], [], [], []
        self.parameters = parameters_of(function)
        self.names = [p.name for p in self.parameters]
        peers = {p.name: role_of(p) for p in self.parameters
                 if p.type == "int" and not p.suffix and role_of(p) in ("rank", "tag")}
        self.peers = list(peers)
        if len(peers) > 1:  # one test for all
            self.first = [f"if (weft_unlikely(({' | '.join(peers)}) < 0)) {{",
                          *[f"    {name} = front_{role}_in({name});" for name, role in peers.items()],
                          "}"]
        for p in self.parameters:
            self.convert(p)

    def convert(self, p):
        handle, kind = HANDLE.search(p.type), p.kind
        if handle and p.suffix:
            self.handles(p, handle[1])
        elif handle and kind.flow:
            self.handle_pointer(p, handle[1])
        elif handle and "root" in kind.options:
            self.arguments.append(f"front_is_root(comm, root) ? front_{handle[1]}_in({p.name}) : NULL")
        elif handle:
            self.arguments.append(self.handle(p, handle[1]))
        elif kind.word == "status":
            self.status(p)
        elif p.suffix and role_of(p) in ("rank", "distrib", "darg"):
            self.ints(p)
        elif not p.suffix and role_of(p):
            self.int(p)
        elif kind.word == "string" and self.is_cut(p):
            self.string(p)
        elif "in_place" in kind.options:
            self.arguments.append(f"front_buffer_in({p.name})")
        elif kind.word == "weights":
            self.arguments.append(f"{'(int *)' if kind.flow else ''}front_weights_in({p.name})")
        elif p.type == "MPI_T_pvar_handle":
            self.arguments.append(f"front_pvar_in({p.name})")
        else:
            self.arguments.append(p.name)

    def handle(self, p, kind):
        """A handle that is read. A pointer may point nowhere where it is not significant."""
        if not self.interface.pointers:
            return f"front_{kind}_in({p.name})"
        if p.name == "origin_datatype" and "result_datatype" in self.names:
            return f"front_{kind}_in(front_Op_in(op) == MPI_NO_OP ? target_datatype : {p.name})"
        test = self.significant(p, kind)
        return f"front_{kind}_if({test}, {p.name})" if test else f"front_{kind}_in({p.name})"

    def significant(self, p, kind):
        """The condition under which a collective reads a handle, or None if it always does."""
        name, does = self.function.name, self.function.does.split()
        if "collective" not in does or "eighbor" in name or kind not in ("Datatype", "Op"):
            return None
        rooted = "root" in self.names
        buffers = [q for q in self.parameters if q.kind.word == "data" and p.name in q.kind.about]
        if len(buffers) != 1 or buffers[0].kind.flow == "<>":  # of a reduction or a broadcast
            return "front_rank_in(root) != MPI_PROC_NULL" if rooted else None
        (buffer,) = buffers
        if "root" in buffer.kind.options:
            return "front_is_root(comm, root)"
        # A rank that passes MPI_ROOT or MPI_PROC_NULL does not read the buffer.
        tests = ["root >= 0"] if rooted else []
        if "in_place" in buffer.kind.options:
            tests.append(f"front_buffer_in({buffer.name}) != MPI_IN_PLACE")
        return " && ".join(tests)

    def handle_pointer(self, p, kind):
        name = self.function.name
        reads = p.kind.flow == "<>"
        if name in INTEGERS and not self.interface.pointers:  # the core writes the other MPI's handle
            self.arguments.append(p.name)
            return
        if kind == "Request" and self.interface.pointers:  # the core writes only one predefined one
            if reads:
                self.before += [f"if ({p.name})", f"    front_Request_begin({p.name}, NULL);"]
                self.always += [f"if ({p.name})", f"    front_Request_end({p.name}, NULL);"]
            else:  # the core may write the null handle if the call fails
                self.always += [f"if (weft_unlikely(code != MPI_SUCCESS) && {p.name})",
                                f"    front_Request_end({p.name}, NULL);"]
            self.arguments.append(f"(MPI_Request *){p.name}")
            return
        mine = f"{p.name}_"
        start = f" = {p.name} ? front_{kind}_in(*{p.name}) : NULL" if reads else ""
        self.before.append(f"MPI_{kind} {mine}{start};")
        self.arguments.append(f"{p.name} ? &{mine} : NULL")
        line = f"*{p.name} = front_{kind}_out({mine});"
        if reads:  # a call makes of a handle the null handle, or leaves it as it is
            self.always += [f"if ({p.name} && {mine} == MPI_{kind.upper()}_NULL)", f"    {line}"]
        else:
            check = f"{p.kind.flag} && *{p.kind.flag} && {p.name}" if p.kind.flag else p.name
            self.after += [f"if ({check})", f"    {line}"]

    def handles(self, p, kind):
        mine, const = f"{p.name}_", not p.kind.flow
        count = {"sends": "blocks.send", "receives": "blocks.receive"}.get(p.kind.length[0], p.kind.length[0])
        if count.startswith("blocks") and not any("blocks = " in line for line in self.before):
            neighbor = "true" if "eighbor" in self.function.name else "false"
            self.before.append(f"const struct front_blocks blocks = front_blocks(comm, {neighbor}, sendbuf);")
        convert = "in" if const else "begin"
        self.before += [f"MPI_{kind} {mine}few[FRONT_FEW];",
                        f"MPI_{kind} *{mine} = front_{kind}s_{convert}({count}, {p.name}, {mine}few);"]
        self.arguments.append(mine)
        if const:
            self.always.append(f"front_release({mine}, {mine}few);")
        else:
            self.always.append(f"front_{kind}s_end({count}, {p.name}, {mine}, {mine}few);")

    def status(self, p):
        mine = f"{p.name}_"
        if p.kind.flow != ">":
            self.before += [f"MPI_Status {mine};",
                            f"if (front_status_given({p.name}))",
                            f"    front_status_in({p.name}, &{mine});"]
            self.arguments.append(f"front_status_given({p.name}) ? &{mine} : NULL")
            if p.kind.flow:
                self.after += [f"if ({p.name})", f"    front_status_out(&{mine}, {p.name});"]
            return
        flag = f"{p.kind.flag} && *{p.kind.flag} && " if p.kind.flag else ""
        if p.kind.length:
            length, *used = p.kind.length
            got = f"{used[0]} ? *{used[0]} : 0" if used else length
            self.before += [f"MPI_Status {mine}few[FRONT_FEW];",
                            f"MPI_Status *{mine} = front_statuses({length}, {p.name}, {mine}few);"]
            self.arguments.append(mine)
            self.always += [f"if ({flag}{mine} && front_has_status(code))",
                            f"    front_statuses_out({got}, {mine}, {p.name}, "
                            "code == MPI_ERR_IN_STATUS);",
                            f"front_release({mine}, {mine}few);"]
            return
        self.before += [f"MPI_Status {mine};", f"{mine}.MPI_SOURCE = FRONT_INVALID;"]
        self.arguments.append(f"front_status_given({p.name}) ? &{mine} : MPI_STATUS_IGNORE")
        self.always += [f"if ({flag}front_status_given({p.name}) && {mine}.MPI_SOURCE != FRONT_INVALID)",
                        f"    front_status_out(&{mine}, {p.name});"]

    def ints(self, p):
        (length,), role = p.kind.length, role_of(p)
        if p.kind.flow:
            self.arguments.append(p.name)
            self.after += [f"front_ints_out({length}, {p.name}, front_{role}_out);"]
            return
        mine = f"{p.name}_"
        self.before += [f"int {mine}few[FRONT_FEW];",
                        f"int *{mine} = front_ints_in({length}, {p.name}, {mine}few, front_{role}_in);"]
        self.arguments.append(mine)
        self.always.append(f"front_release({mine}, {mine}few);")

    def int(self, p):
        role = role_of(p)
        if self.first and p.name in self.peers:
            self.arguments.append(p.name)
        elif not p.kind.flow:
            self.arguments.append(f"front_{role}_in({p.name})")
        elif p.kind.flow == "<>":
            self.before.append(f"int {p.name}_ = {p.name} ? front_{role}_in(*{p.name}) : 0;")
            self.arguments.append(f"{p.name} ? &{p.name}_ : NULL")
            self.after += [f"if ({p.name})", f"    *{p.name} = front_{role}_out({p.name}_);"]
        else:
            self.arguments.append(p.name)
            self.after += [f"if ({p.name})", f"    *{p.name} = front_{role}_out(*{p.name});"]

    def is_cut(self, p):
        """The caller has room for the other MPI's length only, and the call does not take that length."""
        lengths = {q.name: q.kind for q in self.parameters if q.name in p.kind.about}
        return (p.kind.length and all(kind.flow == ">" for kind in lengths.values())
                and self.interface.is_short(p.kind.length[0]))

    def string(self, p):
        length = p.kind.length[0][len("MPI_MAX_"):]
        used = p.kind.about[0] if p.kind.about else "NULL"
        self.before.append(f"char {p.name}_[MPI_MAX_{length}];")
        self.arguments.append(f"{p.name} ? {p.name}_ : NULL")
        self.after += [f"if ({p.name})",
                       f"    front_copy_text({p.name}, FRONT_MAX_{length}, {p.name}_, {used});"]

    def usual(self):
        """A condition under which no argument needs a call to be converted, if handles are ints."""
        if self.interface.pointers or not {"MPI_Comm", "MPI_Datatype"} <= {p.type for p in self.parameters}:
            return None
        handles = [f"front_{p.type[len('MPI_'):]}_is_usual({p.name})" for p in self.parameters
                   if p.type in ("MPI_Comm", "MPI_Datatype", "MPI_Op") and not p.suffix]
        peers = [f"({' | '.join(self.peers)}) >= 0"] if self.peers else []
        return [f"{test} &&" for test in [*peers, *handles][:-1]] + handles[-1:]

    def body(self):
        bare = bare_name(self.function.name)
        if not self.interface.pointers and self.function.name in INTEGERS:  # it converts errors, too
            return [*self.first, f"return {call_text(INTEGERS[self.function.name], self.arguments)};"]
        if self.function.returns != "int":
            return [f"return {call_text(bare, self.arguments)};"]
        lines = [*self.first, *self.before]
        lines.append(f"int code = {call_text(bare, self.arguments)};")
        if self.after:
            lines.append("if (weft_likely(code == MPI_SUCCESS)) {")
            lines += [f"    {line}" for line in self.after]
            lines.append("}")
        return [*lines, *self.always, "return front_code(code);"]


def indented(lines):
    return "\n".join("\n".join(statement("    " + line)) for line in lines)


def call_text(bare, arguments):
    return f"weft_abi_{bare}({', '.join(arguments)})"


def prototype(function, storage="", prefix="front", end=")"):
    """The prototype of a front end's function."""
    return "\n".join(declared(f"{storage}{foreign(function.returns)} {prefix}_{bare_name(function.name)}(",
                              [foreign(p.strip()) for p in function.parameters.split(",")], end))


def named(function):
    """The prototype of a function that has another symbol."""
    symbol = f'"P{function.name}");'
    text, short = prototype(function, end=f") __asm__({symbol}"), prototype(function, end=") __asm__(")
    return f"{short}\n    {symbol}" if text.split("\n")[0].endswith("(") and "\n" not in short else text


def entries(functions, interface):
    header, source = [], []
    for f in functions:
        bare = bare_name(f.name)
        if not interface.has(f.name):
            continue
        head = prototype(f)
        header.append(named(f))
        if HAND.match(f.name) or (interface.name, f.name) in HAND_OF:
            continue
        call = Call(f, interface)
        body = indented(call.body())
        usual = call.usual()
        if usual:  # a function for usual arguments, which saves no registers, and one for all others
            names = ", ".join(call.names)
            convert, other = prototype(f, "FRONT_INLINE ", "convert"), prototype(f, "FRONT_OUTLINE ", "other")
            source.append(f"{convert}\n{{\n{body}\n}}\n\n{other}\n"
                          f"{{\n{indented([f'return convert_{bare}({names});'])}\n}}\n")
            body = "\n".join([wrap("    if (weft_likely(", usual, "))"),
                              indented([f"    return convert_{bare}({names});", f"return other_{bare}({names});"])])
        export = "FRONT_EXPORT_EXTENSION" if is_extension(f.name) else "FRONT_EXPORT"
        source.append(f"{export}({bare});\n{head}\n{{\n{body}\n}}\n")
        persistent = f"MPIX_{bare}"  # its name before the standard had it
        names = [persistent] if persistent in interface.functions - {f.name} else MPI_1.get(f.name, [])
        source += [f'FRONT_ALIAS({bare}, "{name}");\nFRONT_ALIAS({bare}, "P{name}");\n' for name in names]
    return header, source


def attribute_functions(interface):
    """COPY and DELETE of src/frontend/callback.c, for the predefined functions that are C functions."""
    found = {}
    for name, theirs, ours in interface.of("function-constant"):
        function = re.search(r"(\w+)\)*$", theirs)[1]
        found[function] = f"DELETE({function})" if "DELETE" in name else f"COPY({function}, {number(ours)})"
    rows = [f"    {{(front_function *){name}, {int(call.endswith(' 1)'))}}}," for name, call in found.items()]
    return [*found.values(), "static const struct front_predefined predefined[] = {", *rows, "};"]


def number(text):
    return int(text, 0)


def tables(interface, functions):
    lines = [f"extern __typeof__(P{f.name}) weft_abi_{bare_name(f.name)};" for f in functions]
    pairs = {role: [] for role in GROUPS}
    for name, theirs, ours in interface.of("constant", "later-constant"):
        if name == "MPI_ERR_LASTCODE":
            lines.append(f"#define FRONT_ERR_LASTCODE {theirs}")
            continue
        if ours == "-":
            continue
        for role, pattern in GROUPS.items():
            if re.match(pattern, name):
                pairs[role].append((number(theirs), number(ours), name))
                break
    for role, members in pairs.items():
        lines += [f"static const struct front_pair front_{role}s[] = {{",
                  *aligned([f"    {{{theirs}, {ours}}}, /* {name} */" for theirs, ours, name in members]), "};"]
        kind = ("bits" if role in BITS else "offset" if role == "displacement" else
                role if role in ("rank", "tag", "error", "darg") else "value")
        lines.append(f"FRONT_CONVERT_{kind.upper()}({role}, front_{role}s)")
    values = {name: theirs for name, theirs, _ in interface.of("length")}
    values |= {name: f"((void *){theirs})" for name, theirs, _ in interface.of("sentinel", "later-sentinel")
               if re.fullmatch(r"-?\d+", theirs) and "_FN" not in name}
    if not interface.pointers:
        values |= {name: theirs for name, theirs, _ in interface.of("handle")
                   if name in ("MPI_COMM_WORLD", "MPI_REQUEST_NULL")}
    names = [f"#define FRONT_{name[len('MPI_'):]}" for name in values]
    column = max(map(len, names)) + 1
    lines += [f"{name:{column}}{value}" for name, value in zip(names, values.values())]
    if not interface.pointers:
        lines += integer_handles(interface)
    return lines


# Objects without a handle of the standard: their first word is no handle at all, or has a meaning.
SPECIAL = {"ompi_mpi_lb": "FRONT_LB", "ompi_mpi_ub": "FRONT_UB", "ompi_mpi_c_complex": "0x212",
           "ompi_mpi_errors_throw_exceptions": "0x141", "ompi_mpi_real2": "0x2ca"}  # fmt: skip
LATER_SIZES = {"MPI_SESSION": 512, "MPI_ERRORS": 1024}


def kind_of(name):
    for start, kind in (("COMM", "Comm"), ("GROUP", "Group"), ("REQUEST", "Request"), ("INFO", "Info"),
                        ("MESSAGE", "Message"), ("ERR", "Errhandler"), ("WIN_", "Win"), ("FILE", "File"),
                        ("SESSION", "Session")):
        if re.match(rf"MPI_{start}(_|ORS|HAN)", name) or name == f"MPI_{start}NULL":
            return kind
    if re.fullmatch("MPI_(OP_NULL|MAX|MIN|SUM|PROD|L?AND|BAND|LOR|BOR|LXOR|BXOR|MAXLOC|MINLOC|REPLACE|"
                    "NO_OP)", name):
        return "Op"
    return "Datatype"


def integer_handles(interface):
    """Tables for handles that are ints. Types and operations are found by their lowest byte."""
    others = {kind: [] for kind in KINDS if kind not in ("Datatype", "Op", "File")}
    inward = {"types": {}, "pairs": {}, "ops": {}}
    outward = {"types": {}, "ops": {}}
    lines = []
    for name, theirs, ours in interface.of("handle", "later-handle"):
        kind, value = kind_of(name), number(theirs)
        standard = {"MPI_LB": "FRONT_LB", "MPI_UB": "FRONT_UB"}.get(name, ours)
        null = name.endswith("_NULL")
        if standard == "-" or kind == "File" or (value == 0x0c000000 and not null):
            continue
        if kind in others:
            others[kind].append(f"{{{theirs}, {ours}}}, /* {name} */")
            continue
        table = "ops" if kind == "Op" else "types"
        outward[table][f"{standard} & {'0x1f' if kind == 'Op' else '0xff'}"] = f"(int){theirs}, /* {name} */"
        if not null:
            place = "pairs" if value >> 24 == 0x8c else table
            inward[place][hex(value & 0xff)] = f"{standard}, /* {name} */"
    for kind, members in others.items():
        lines += [f"static const struct front_pair front_{kind}_values[] = {{",
                  *aligned([f"    {member}" for member in members]), "};"]
    for (name, members), size in zip(inward.items(), (256, 16, 16)):
        lines += [f"static const short front_{name}_in[{size}] = {{",
                  *aligned([f"    [{index}] = {value}" for index, value in members.items()]), "};"]
    for (name, members), size in zip(outward.items(), (256, 32)):
        lines += [f"static const int front_{name}_out[{size}] = {{",
                  *aligned([f"    [{index}] = {value}" for index, value in members.items()]), "};"]
    return lines


def objects(interface):
    values, names = {}, {}
    for name, theirs, ours in interface.of("handle", "later-handle"):
        target = theirs.lstrip("&")
        if ours != "-":
            values.setdefault(target, number(ours))
            names.setdefault(number(ours), target)
    sizes = {}
    for name, text, _ in interface.of("object"):
        if "libmpi.so.40" in text:
            sizes[name] = int(re.search(r"size (\d+)", text)[1])
    for name, theirs, _ in interface.of("later-handle"):
        later = next((size for start, size in LATER_SIZES.items() if name.startswith(start)), 512)
        sizes.setdefault(theirs.lstrip("&"), later)
    lines, back = [], []
    for name, size in sorted(sizes.items()):
        if not name.startswith(("ompi_mpi_", "ompi_request_", "ompi_message_")):
            continue
        value = SPECIAL.get(name, hex(values[name]) if name in values else "FRONT_NOTHING")
        lines.append(f"FRONT_OBJECT({name}, {size}, {value});")
    for value, name in sorted(names.items()):
        back.append(f"    [{value:#x}] = &{name},")
    back += [f"    [FRONT_{name}] = &ompi_mpi_{name.lower()}," for name in ("LB", "UB")]
    lines += ["", "void *const front_back[FRONT_PREDEFINED] = {", *back, "};", ""]
    ints = {name: int(theirs) for name, theirs, _ in interface.of("fortran-constant", "later-fortran-constant")
            if re.fullmatch(r"-?\d+", theirs)}
    lines.append("const struct front_fortran front_fortran[] = {")
    fortran = []
    done = set()
    for name, theirs, ours in interface.of("handle", "later-handle"):
        key = (kind_of(name), ints.get(name))
        if name in ints and ours != "-" and key not in done:
            done.add(key)
            fortran.append(f"    {{FRONT_KIND_{kind_of(name)}, {ints[name]}, {ours}}}, /* {name} */")
    done_kinds = {kind for kind, _ in done}
    for kind in KINDS:
        if kind not in done_kinds and f"MPI_{kind.upper()}_NULL" in {r[0] for r in interface.of("handle")}:
            ours = next(r[2] for r in interface.of("handle") if r[0] == f"MPI_{kind.upper()}_NULL")
            fortran.append(f"    {{FRONT_KIND_{kind}, 0, {ours}}}, /* MPI_{kind.upper()}_NULL */")
    fortran += ["    {FRONT_KIND_Datatype, 4, FRONT_LB}, /* MPI_LB */",
                "    {FRONT_KIND_Datatype, 3, FRONT_UB}, /* MPI_UB */", "    {0, 0, 0}, /* the end */"]
    return [*lines, *aligned(fortran), "};"]


# Addresses whose values differ from the standard's, and their types.
ADDRESSES = {"MPI_UNWEIGHTED": "int *", "MPI_WEIGHTS_EMPTY": "int *", "MPI_IN_PLACE": "void *",
             "MPI_BUFFER_AUTOMATIC": "void *", "MPI_STATUS_IGNORE": "MPI_Status *",
             "MPI_STATUSES_IGNORE": "MPI_Status *"}  # fmt: skip


def fortran_header(interface):
    """The standard's mpi.h with the values of the other MPI, for the sources of src/fortran: what
    they compile to calls the front end."""
    lines = ["#pragma GCC system_header"]
    if interface.pointers:
        lines.append("#include_next <mpi.h>")
    else:
        text = (Path(__file__).parent.parent / "include/mpi.h").read_text()
        lines.append(re.sub(r"typedef struct MPI_ABI_(?!T_|File)(\w+) \*", "typedef int ", text))
    for name, theirs, _ in interface.of("constant", "length", "later-constant"):
        lines += [f"#undef {name}", f"#define {name} ({theirs})"]
    for name, theirs, _ in interface.of("sentinel", "later-sentinel"):
        if name in ADDRESSES:
            lines.append(f"#undef {name}")
            lines.append(f"#define {name} (({ADDRESSES[name]}){theirs})" if re.match("-?\\d", theirs)
                         else f"extern {ADDRESSES[name]}const {name};")
    return lines + (pointer_handles if interface.pointers else int_handles)(interface)


def int_handles(interface):
    """C's handles are Fortran's INTEGERs, but for those of files."""
    lines = []
    for name, theirs, _ in interface.of("handle", "later-handle"):
        lines += [f"#undef {name}", f"#define {name} ((MPI_{kind_of(name)}){theirs})"]
    for kind in KINDS:
        bare = "Type" if kind == "Datatype" else kind
        if kind != "File":
            lines += [f"#define PMPI_{bare}_toint(handle) (handle)",
                      f"#define PMPI_{bare}_fromint(handle) (handle)"]
    return [*lines, "int PMPI_File_c2f(MPI_File file);", "MPI_File PMPI_File_f2c(int file);",
            "#define PMPI_File_toint PMPI_File_c2f", "#define PMPI_File_fromint PMPI_File_f2c"]


def pointer_handles(interface):
    lines, targets = [], set()
    for name, theirs, _ in interface.of("handle", "later-handle"):
        target = theirs.lstrip("&")
        if target not in targets:
            lines.append(f"extern struct weft_front_object {target};")
            targets.add(target)
        lines += [f"#undef {name}", f"#define {name} ((MPI_{kind_of(name)})(void *)&{target})"]
    for kind in KINDS:
        bare = "Type" if kind == "Datatype" else kind
        lines += [f"int PMPI_{bare}_c2f(MPI_{kind} handle);",
                  f"MPI_{kind} PMPI_{bare}_f2c(int handle);",
                  f"#define PMPI_{bare}_toint PMPI_{bare}_c2f",
                  f"#define PMPI_{bare}_fromint PMPI_{bare}_f2c"]
    return lines


# The names of a handle in the modules, and MPI_Sizeof of a type and a rank outside of them.
MODULE_NAMES = {"ompi40": ("__mpi_f08_types_MOD_{}", "ompi_f08_{}"),
                "mpich12": ("__mpi_f08_compile_constants_MOD_{}",)}  # fmt: skip
SIZEOF = re.compile(r"p?mpi_sizeof_(character|logical|int|real|complex)(\d*)_(scalar|r\d+)_$")


def modules(interface):
    """What the other MPI's modules define: handles, procedures and types (src/frontend/modules.c)."""
    ints = {name: theirs for name, theirs, _ in interface.of("fortran-constant", "later-fortran-constant")}
    handles = {name: value for name, theirs, _ in interface.of("handle", "later-handle")
               for value in (ints.get(name, theirs), theirs) if re.fullmatch(r"-?\d+|0x\w+", value)}
    lines = []
    for name, value in handles.items():
        module, *bound = MODULE_NAMES[interface.name]
        lines.append(f"CONSTANT({module.format(name.lower())}, {value})")
        lines += [f"CONSTANT({other.format(re.sub('_t$', '', name.lower()))}, {value})" for other in bound]
    for name, text, _ in interface.of("fortran-module", "later-fortran-module"):
        what, *bytes_ = text.split()
        lines.append(f"{what.upper()}({', '.join([name, *bytes_])})")
    for name in sorted({row[0] for row in interface.of("fortran-procedure", "later-fortran-procedure")}):
        if found := SIZEOF.match(name):
            bits = int(found[2] or {"character": 8, "logical": 32}[found[1]])
            lines.append(f"SIZE({name}, {bits // 8 * (2 if found[1] == 'complex' else 1)})")
    for name, text, _ in interface.of("fortran-type", "later-fortran-type"):
        lines.append(f"TYPE({name}, {text.split()[1]}, {text.split()[3]})")
    return lines


def files(name):
    interface = Interface(name)
    functions = read_tables()[0]
    header, source = entries(functions, interface)
    top = ["// " + SPDX, note(f"Made by abi/frontend.py from abi/{name}.tsv and abi/functions.tsv; do not edit.")]
    result = {
        "entries.h": [*top, *header],
        "tables.h": [*top, *tables(interface, functions)],
        "attributes.h": [*top, *attribute_functions(interface)],
        "entries.c": [*top, '#include "frontend/frontend.h"', "", *source],
    }
    if interface.pointers:
        result["objects.c"] = [*top, '#include "frontend/frontend.h"', "", *objects(interface)]
    result["fortran/mpi.h"] = [*top, "#ifndef WEFT_FRONT_MPI_H", "#define WEFT_FRONT_MPI_H",
                               *fortran_header(interface), "#endif"]
    result["fortran/modules.h"] = [*top, *modules(interface)]
    return {file: "\n".join(lines).rstrip() + "\n" for file, lines in result.items()}


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: abi/frontend.py INTERFACE DIRECTORY")
    try:
        for name, text in files(arguments[0]).items():
            path = Path(arguments[1]) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_text() != text:
                path.write_text(text)
    except TableError as error:
        sys.exit(f"abi/frontend.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
