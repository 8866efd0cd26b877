# SPDX-License-Identifier: BSD-3-Clause
"""Entry points that a row of entry.tsv describes (status `entry`): enter, check the arguments in
order, call the core, leave. entry.tsv describes its columns.

Invariant: a check returns MPI_SUCCESS, or an error class whose sentence it has recorded; the error
is raised once, in the statement that leaves.
"""

import re
from collections import namedtuple

from tables import TableError, rows, split_parameters

Row = namedtuple("Row", "name lock checks statements")
# What a handle stands for: its structure, the function that resolves it and what that takes first,
# the null handle, the name of a new object, and what the user gets for it.
Kind = namedtuple("Kind", "struct resolve null made give", defaults=("made", None))

KINDS = {
    "MPI_Comm": Kind("struct weft_comm", "weft_arg_comm(", "MPI_COMM_NULL", "made",
                     "made ? made->handle : MPI_COMM_NULL"),
    "MPI_Group": Kind("struct weft_group", "weft_arg_group(", "MPI_GROUP_NULL", "made",
                      "weft_group_handle(made)"),
    "MPI_Session": Kind("struct weft_session", "weft_arg_session(", "MPI_SESSION_NULL", "made",
                        "(MPI_Session)made"),
    "MPI_Info": Kind("struct weft_info", "weft_arg_info(", "MPI_INFO_NULL", "made", "(MPI_Info)made"),
    "MPI_Datatype": Kind("struct weft_datatype", "weft_arg_type(", "MPI_DATATYPE_NULL", "made",
                         "made->handle"),
    "MPI_Op": Kind("struct weft_op", "weft_arg_op(", "MPI_OP_NULL", "made", "made->handle"),
    "MPI_Request": Kind("struct weft_request", "weft_arg_request(", "MPI_REQUEST_NULL", "started",
                        "(MPI_Request)started"),
    "MPI_Win": Kind("struct weft_win", "weft_arg_win(", "MPI_WIN_NULL", "made", "made->handle"),
    "MPI_Errhandler": Kind("struct weft_errhandler", "weft_arg_errhandler(", "MPI_ERRHANDLER_NULL", "made",
                           "made->handle"),
    "MPI_File": Kind("struct weft_errhandler *", "weft_arg_file(", "MPI_FILE_NULL"),
    "MPI_T_enum": Kind("const struct weft_tool_enum", "weft_tool_arg_enum(", "MPI_T_ENUM_NULL"),
    "MPI_T_cvar_handle": Kind("struct weft_cvar_handle", "weft_tool_arg_cvar(", "MPI_T_CVAR_HANDLE_NULL"),
    "MPI_T_pvar_session": Kind("struct weft_pvar_session", "weft_tool_arg_session(",
                               "MPI_T_PVAR_SESSION_NULL"),
    "MPI_T_pvar_handle": Kind("struct weft_pvar_handle", "weft_tool_arg_pvar(session, ",
                              "MPI_T_PVAR_HANDLE_NULL"),
    "MPI_T_event_registration": Kind("struct weft_registration", "weft_tool_arg_registration(", "NULL"),
    "MPI_T_event_instance": Kind("struct weft_instance", "weft_tool_arg_instance(", "NULL"),
}

# How the library is entered, the value of `code` then, and how it is left.
LOCKS = {
    "call": ("weft_enter(function)", "weft_leave_with(NULL, code, function)"),
    "comm": ("weft_enter_on(function, weft_call_vci(comm_handle))", "weft_leave_comm(comm, code, function)"),
    "window": ("weft_enter_win(function, win_handle)", None),
    "anytime": ("weft_vcis_enter()", "weft_vcis_leave_with(code, function)"),
    "call-new": ("weft_enter(function)", "weft_leave_to(errhandler, MPI_COMM_NULL, code, function)"),
    "anytime-new": ("weft_vcis_enter()", "weft_vcis_leave_to(errhandler, MPI_SESSION_NULL, code, function)"),
    "request": ("weft_enter_scope(function, vci)", "weft_leave_scope_with(vci, comm, code, function)"),
    "tool": ("weft_tool_enter()", "weft_tool_leave(code)"),
    "tool-always": ("weft_tool_enter_always()", "weft_tool_leave(code)"),
    "none": (None, "weft_raise_unlocked(code, function)"),
    "value": (None, None),
}
LOCKS["requests"] = LOCKS["message"] = LOCKS["request"]

# The VCI, or all (NULL), that a call with no communicator as argument takes; `comm` is whose error it is.
VCIS = {
    "request": "weft_requests_vci(1, request)",
    "requests": "weft_requests_vci(count, array_of_requests)",
    "message": "weft_message_vci(message)",
}

# Whose error handler is called: that of the first object of these kinds.
HANDLERS = {
    "MPI_Comm": "weft_leave_with({}, code, function)",
    "MPI_Request": "weft_leave_request({}, code, function)",
    "MPI_Session": "weft_vcis_leave_to({0} ? {0}->errhandler : NULL, {0}, code, function)",
    "MPI_File": "weft_leave_to(*{}, MPI_FILE_NULL, code, function)",
    "MPI_Win": "weft_leave_win({}, code, function)",
}

# The types of arguments in calls of functions of src/core/mpi that are not parameters or objects.
LITERALS = (
    (r"function$", "const char *function"),
    (r"(true|false|\w+ && .*)$", "bool"),
    (r"&comm$", "struct weft_comm **"),
    (r"&request$|\(MPI_Request \*\)", "MPI_Request *"),
    (r"&\(int\)", "int *"),
    (r"WEFT_HOW_", "enum weft_how"),
    (r"(\*file|\w+->errhandler)$", "struct weft_errhandler *"),
    (r"weft_pvar_\w+$", "int (*act)(struct weft_pvar_handle *)"),
    (r"\(((?:struct|union) \w+)\)\{", r"\1"),
    (r"WEFT_KIND_", "enum weft_kind"),
    (r"WEFT_CATEGORY_", "enum weft_category_kind"),
    (r"weft_\w+_attributed\(", "struct weft_attributed"),
    (r"MPI_[A-Z]", "int"),
)


def split(text, separator):
    """Splits where no parenthesis, brace or quotation mark is open."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "({[":
            depth += 1
        elif not quoted and c in ")}]":
            depth -= 1
        elif not quoted and not depth and c == separator:
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in [*parts, text[start:].strip()] if part and part != "-"]


def read_rows():
    result = {}
    for name, lock, checks, statements in rows("entry.tsv", 4):
        if lock not in LOCKS:
            raise TableError(f"entry.tsv: {name}: unknown word '{lock}' in column 2")
        if name in result:
            raise TableError(f"entry.tsv: {name} appears twice")
        result[name] = Row(name, lock, split(checks, ";"), split(statements, ";"))
    return result


def declare(kind, name):
    """'struct weft_comm *comm'"""
    return f"{kind.struct}{'' if kind.struct.endswith('*') else ' '}*{name}"


class Entry:
    """One entry point: from a row and a prototype."""

    def __init__(self, function, row):
        self.function, self.row = function, row
        self.parameters = {p.name: p for p in split_parameters(function.parameters)}
        self.objects = {}  # name: kind, of handles that are resolved
        self.made = {}  # parameter: kind, of handles that are results
        for check in row.checks:
            self.read_handle(check)
        self.checks = [self.expression(check) for check in row.checks]

    def error(self, text):
        return TableError(f"entry.tsv: {self.row.name}: {text}")

    def kind_of(self, name):
        """The kind of a handle, or of what a pointer to a handle points to."""
        if name not in self.parameters:
            raise self.error(f"no parameter '{name}'")
        base = self.parameters[name].type.replace("*", "").strip()
        if base not in KINDS:
            raise self.error(f"'{name}' is not a handle")
        return KINDS[base]

    def read_handle(self, check):
        """Notes the object that a check resolves, or the handle that the function returns."""
        match = re.fullmatch(r'new (\w+) "[^"]*"', check)
        if match:
            self.made[match[1]] = self.kind_of(match[1])
        match = re.fullmatch(r"(\w+)(\?|:\w+)?", check)
        if match:
            self.objects[match[1]] = self.kind_of(match[1])

    def expression(self, check):
        """The C expression of a check."""
        match = re.fullmatch(r'(?:new )?(\w+) ("[^"]*")|(\w+)!', check)
        if match:
            name = match[1] or match[3]
            if name not in self.parameters:
                raise self.error(f"no parameter '{name}'")
            pointer = name + "_handle" if name in self.objects else name
            return (f"weft_arg_result({pointer} != NULL, {match[2]})" if match[2] else
                    f"weft_tool_given({pointer} != NULL)")
        match = re.fullmatch(r"(\w+)(\?|:\w+)?", check)
        return self.resolve(match[1], match[2] or "") if match else check

    def resolve(self, name, variant):
        """The call that resolves a handle."""
        kind = self.objects[name]
        function, first = kind.resolve.split("(")
        if variant == "?":
            function += "_or_null"
        elif variant.isupper():  # :COMM
            first = f"WEFT_KIND_{variant[1:]}, "
        elif variant:  # :intra
            function = "weft_arg_" + variant[1:]
        handle = name + "_handle"
        if "*" in self.parameters[name].type:
            handle = f"{handle} ? *{handle} : {kind.null}"
        return f"{function}({first}{handle}, &{name})"

    def prototype(self):
        """The parameters: a handle that is resolved leaves its name to the object."""
        function = self.function
        for name in self.objects:
            function = function._replace(
                parameters=re.sub(rf"\b{name}(?=,|$)", f"{name}_handle", function.parameters))
        return function

    # ---- Statements

    def name(self):
        """The name of the function in errors. The forms of datatypes take different arguments."""
        name = self.function.name
        return f'"{name}"' if name.startswith("MPI_Type_") else '"' + re.sub("_c$", "", name) + '"'

    def declarations(self):
        lines = []
        if not self.row.lock.startswith("tool"):
            lines.append(f"const char *function = {self.name()};")
        if self.row.lock in VCIS:
            lines += ["struct weft_comm *comm = NULL;", f"struct weft_vci *vci = {VCIS[self.row.lock]};"]
        lines += [declare(kind, name) + " = NULL;" for name, kind in self.objects.items()]
        lines += [declare(kind, kind.made) + " = NULL;" for kind in self.made.values()]
        return lines

    def enter(self):
        enter = LOCKS[self.row.lock][0]
        if enter is None:
            return ["int code = MPI_SUCCESS;"] if not self.checks else ["int code;"]
        if self.row.lock in ("anytime", "anytime-new", "tool-always"):
            return ["int code = MPI_SUCCESS;", enter + ";"]
        return [f"int code = {enter};", "if (weft_unlikely(code != MPI_SUCCESS))", "    return code;"]

    def leave(self):
        for name in self.objects:
            base = self.parameters[name].type.replace("*", "").strip()
            if base in HANDLERS and self.row.lock != "comm":
                return f"return {HANDLERS[base].format(name)};"
        return f"return {LOCKS[self.row.lock][1]};"

    def statement(self, text):
        """The lines of a statement of the last column, and whether it sets code."""
        if text.startswith("do "):
            return [text[3:] + ";"], False
        if text.startswith("made = ") or text.startswith("started = "):
            name = text.split(" ")[0]
            missing = f"!{name} && code == MPI_SUCCESS" if "&code" in text else f"!{name}"
            return [text + ";", f"if ({missing})", "    code = MPI_ERR_NO_MEM;"], True
        if re.match(r"\*?[\w>-]+ = ", text):
            return [text + ";"], False
        return [f"code = {text};"], True

    def body(self):
        if self.row.lock == "value":
            return ["return " + re.sub(r"\bfunction\b", self.name(), self.row.statements[0]) + ";"]
        lines = self.declarations() + self.enter()
        fails = False  # whether code may be an error
        for check in self.checks:
            lines += guarded([f"code = {check};"], fails)
            fails = True
        together = []  # statements under one condition
        for text in self.row.statements:
            some, sets = self.statement(text)
            together += some
            if sets:
                lines += guarded(together, fails)
                together, fails = [], True
        gives = [(name, kind) for name, kind in self.made.items()]
        together += [f"*{name} = {kind.give};" for name, kind in gives if kind.struct != "struct weft_comm"]
        lines += guarded(together, fails) if together else []
        lines += [line for name, kind in gives if kind.struct == "struct weft_comm"
                  for line in (f"if ({name})", f"    *{name} = {kind.give};")]
        return lines + [self.leave()]

    # ---- What is written by hand

    def type_of(self, argument):
        """The declaration of an argument of a function in src/core/mpi, or None."""
        if argument in self.objects:
            return declare(self.objects[argument], argument)
        for kind in self.made.values():
            if argument == "&" + kind.made:
                return declare(kind, "*" + kind.made)
        if argument.endswith("_handle") and argument[:-7] in self.objects:
            parameter = self.parameters[argument[:-7]]
            return f"{parameter.type} {argument}"
        if argument in self.parameters:
            p = self.parameters[argument]
            space = "" if p.type.endswith("*") else " "
            return f"{p.type}{space}{p.name}{p.suffix}"
        for pattern, text in LITERALS:
            match = re.match(pattern, argument)
            if match:
                return match.expand(text)
        return None

    def bodies(self):
        """(name, return type, parameters) of the functions weft_mpi_* that the row calls."""
        for text in [*self.row.checks, *self.row.statements]:
            for match in re.finditer(r"\bweft_mpi_\w+\(", text):
                end = matching(text, match.end() - 1)
                arguments = split(text[match.end():end], ",")
                returns = "int "
                left = text[:match.start()].strip()
                if left == "do":
                    returns = "void "
                elif left.endswith("=") and left.startswith("*"):
                    returns = self.parameters[left[1:-1].strip()].type.rstrip("* ") + " "
                elif left.endswith("="):
                    kind = next(k for k in self.made.values() if k.made == left[:-1].strip())
                    returns = declare(kind, "")
                yield match[0][:-1], returns, [self.type_of(a) for a in arguments]


def matching(text, start):
    """The index of the parenthesis that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i
    raise TableError(f"entry.tsv: a parenthesis is open in '{text}'")


def guarded(lines, fails):
    """Statements that follow checks: only as long as nothing is wrong."""
    if not fails:
        return lines
    single = len(lines) == 1
    end = [] if single else ["}"]
    return [f"if (code == MPI_SUCCESS){'' if single else ' {'}", *["    " + x for x in lines], *end]
