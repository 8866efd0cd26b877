# SPDX-License-Identifier: BSD-3-Clause
"""Entry points that a stanza of entry_points.txt describes (status `entry`): enter, check the
arguments in order, run the C of the stanza, leave. entry_points.txt describes its stanzas.

Invariant: a check returns MPI_SUCCESS, or an error class whose sentence it has recorded; the error
is raised once, in the statement that leaves.
"""

import re
from collections import namedtuple

from tables import ROOT, WIDTH, TableError, split_parameters, wrap

FILE = "abi/entry_points.txt"
# The line after the C of a stanza: where the generated file goes on.
HERE = "#line"
# A stanza: its C begins in this line of FILE.
Stanza = namedtuple("Stanza", "name lock steps code line")
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
    "MPI_File": Kind("struct weft_file", "weft_arg_file(", "MPI_FILE_NULL", "made", "made->handle"),
    "MPI_T_enum": Kind("const struct weft_tool_enum", "weft_tool_arg_enum(", "MPI_T_ENUM_NULL"),
    "MPI_T_cvar_handle": Kind("struct weft_cvar_handle", "weft_tool_arg_cvar(", "MPI_T_CVAR_HANDLE_NULL"),
    "MPI_T_pvar_session": Kind("struct weft_pvar_session", "weft_tool_arg_session(",
                               "MPI_T_PVAR_SESSION_NULL"),
    "MPI_T_pvar_handle": Kind("struct weft_pvar_handle", "weft_tool_arg_pvar(session, ",
                              "MPI_T_PVAR_HANDLE_NULL"),
    "MPI_T_event_registration": Kind("struct weft_event_registration", "weft_tool_arg_registration(", "NULL"),
    "MPI_T_event_instance": Kind("struct weft_event_instance", "weft_tool_arg_instance(", "NULL"),
}

# The null handles of the kinds that are listed while the program has them.
LISTED = {"MPI_COMM_NULL", "MPI_GROUP_NULL", "MPI_INFO_NULL", "MPI_DATATYPE_NULL", "MPI_OP_NULL",
          "MPI_WIN_NULL", "MPI_FILE_NULL", "MPI_ERRHANDLER_NULL"}

# How the library is entered, the value of `code` then, and how it is left.
LOCKS = {
    "call": ("weft_enter(function)", "weft_leave_with(NULL, code, function)"),
    "comm": ("weft_enter_on(function, weft_p2p_call_vci(comm_handle))", "weft_leave_comm(comm, code, function)"),
    "window": ("weft_enter_win(function, win_handle)", None),
    "file": ("weft_enter_file(function, fh_handle)", None),
    "file-new": ("weft_enter(function)", "weft_leave_file(NULL, code, function)"),
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
LOCKS["send"] = LOCKS["receive"] = LOCKS["exchange"] = LOCKS["request"]

# The VCI, or all (NULL), that a call on messages or requests takes; `comm` is whose error it is.
VCIS = {
    "send": "weft_p2p_vci(comm_handle, dest, tag)",
    "receive": "weft_p2p_vci(comm_handle, source, tag)",
    "exchange": "weft_exchange_vci(comm_handle, dest, sendtag, source, recvtag)",
    "request": "weft_requests_vci(1, request)",
    "requests": "weft_requests_vci(count, array_of_requests)",
    "message": "weft_message_vci(message)",
}

# Calls on a communicator, window or file that take place after its revocation: those that end something, and
# the one for which others wait who do not learn of the revocation.
AFTER_REVOCATION = {"MPI_Comm_free", "MPI_Comm_disconnect", "MPI_Win_complete", "MPI_Win_fence",
                    "MPI_Win_flush", "MPI_Win_flush_all", "MPI_Win_flush_local", "MPI_Win_flush_local_all",
                    "MPI_Win_free", "MPI_Win_test", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_wait",
                    "MPI_File_close", "MPI_Intercomm_create"}

# Whose error handler is called: that of the first object of these kinds.
HANDLERS = {
    "MPI_Comm": "weft_leave_with({}, code, function)",
    "MPI_Request": "weft_leave_request({}, code, function)",
    "MPI_Session": "weft_vcis_leave_to({0} ? {0}->errhandler : NULL, {0}, code, function)",
    "MPI_File": "weft_leave_file({}, code, function)",
    "MPI_Win": "weft_leave_win({}, code, function)",
}

STEPS = re.compile(r"""
    object\ (?P<object>\w+)(?P<variant>\ or\ null|:\ \w+)?
  | result\ (?P<result>\w+)(?:\ (?P<word>"[^"]*"))?
  | new\ (?P<new>\w+)\ (?P<what>"[^"]*")
  | check\ (?P<check>.+)
  | collective\ (?P<collective>\w+)(?:(?P<begins>:\ begins)|(?P<joins>:\ joins))?
""", re.VERBOSE)


def read_stanzas():
    """The stanzas of FILE, by function."""
    result, stanza = {}, None
    for number, line in enumerate((ROOT / FILE).read_text().splitlines(), 1):
        where = f"{FILE}:{number}"
        if not line or line.startswith("#"):
            stanza = None
        elif stanza is None:
            name, _, lock = line.partition(" ")
            if lock not in LOCKS:
                raise TableError(f"{where}: {name}: '{lock}' is not a way to enter the library")
            if name in result:
                raise TableError(f"{where}: {name} appears twice")
            stanza = result[name] = Stanza(name, lock, [], [], number)
        elif line.startswith("- ") and not stanza.code:
            stanza.steps.append(line[2:])
        elif line.startswith("    ") and stanza.steps and stanza.steps[-1].count("(") > \
                stanza.steps[-1].count(")"):
            stanza.steps[-1] += " " + line.strip()
        elif line.startswith("    "):
            stanza.code.append(line)
        else:
            raise TableError(f"{where}: neither a step ('- ...') nor C ('    ...')")
        if stanza and not stanza.code:
            result[stanza.name] = stanza = stanza._replace(line=number + 1)
    return result


def declare(kind, name):
    """'struct weft_comm *comm'"""
    return f"{kind.struct}{'' if kind.struct.endswith('*') else ' '}*{name}"


class Entry:
    """One entry point: from a stanza and a prototype."""

    def __init__(self, function, stanza):
        self.function, self.stanza = function, stanza
        self.parameters = {p.name: p for p in split_parameters(function.parameters)}
        self.objects = {}  # name: kind, of handles that are resolved
        self.made = {}  # parameter: kind, of handles that are results
        steps = [STEPS.fullmatch(step) or self.fail(f"no such step: {step}") for step in stanza.steps]
        for step in steps:
            if step["object"]:
                self.objects[step["object"]] = self.kind_of(step["object"])
            elif step["new"]:
                self.made[step["new"]] = self.kind_of(step["new"])
        self.collective = steps.pop() if steps and steps[-1]["collective"] else None
        self.checks = [self.expression(step) for step in steps]

    def fail(self, text):
        raise TableError(f"{FILE}: {self.stanza.name}: {text}")

    def parameter(self, name):
        return self.parameters.get(name) or self.fail(f"no parameter '{name}'")

    def type_of(self, name):
        """The type of a handle, or of what a pointer to a handle points to."""
        return self.parameter(name).type.replace("*", "").strip()

    def kind_of(self, name):
        return KINDS.get(self.type_of(name)) or self.fail(f"'{name}' is not a handle")

    def sets(self, variable):
        """Whether the C of the stanza assigns to a variable."""
        return any(f"{variable} = " in line for line in self.stanza.code)

    def expression(self, step):
        """The C expression of a step."""
        if step["collective"]:
            self.fail("'collective' is the last step")
        if step["check"]:
            return step["check"]
        if step["object"]:
            return self.resolve(step["object"], step["variant"] or "")
        name = step["result"] or step["new"]
        self.parameter(name)
        pointer = name + "_handle" if name in self.objects else name
        word = step["word"] or step["what"]
        return (f"weft_arg_result({pointer} != NULL, {word})" if word else
                f"weft_tool_given({pointer} != NULL)")

    def resolve(self, name, variant):
        """The call that resolves a handle."""
        kind = self.objects[name]
        function, first = kind.resolve.split("(")
        condition = variant.lstrip(": ")
        if variant == " or null":
            function += "_or_null"
        elif condition.isupper():  # : COMM
            first = f"WEFT_KIND_{condition}, "
        elif condition:  # : intra
            function = "weft_arg_" + condition
        return f"{function}({first}{name}_{'in' if self.is_pointer(name) else 'handle'}, &{name})"

    def is_pointer(self, name):
        return "*" in self.parameters[name].type

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
        if not self.stanza.lock.startswith("tool"):
            lines.append(f"const char *function = {self.name()};")
        if self.stanza.lock in VCIS:
            lines += [f"struct weft_vci *vci = {VCIS[self.stanza.lock]};"]
            lines += ["struct weft_comm *comm = NULL;"] if "comm" not in self.objects else []
        lines += [declare(kind, name) + " = NULL;" for name, kind in self.objects.items()]
        lines += [declare(kind, kind.made) + " = NULL;" for kind in self.made.values()]
        for name, kind in self.objects.items():
            if self.is_pointer(name):
                lines.append(f"{self.type_of(name)} {name}_in = "
                             f"{name}_handle ? *{name}_handle : {kind.null};")
        return lines

    def enter(self):
        enter = LOCKS[self.stanza.lock][0]
        if enter is None:
            return ["int code = MPI_SUCCESS;"] if not self.checks else ["int code;"]
        if self.stanza.lock in ("anytime", "anytime-new", "tool-always"):
            return ["int code = MPI_SUCCESS;", enter + ";"]
        return [f"int code = {enter};", "if (weft_unlikely(code != MPI_SUCCESS))", "    return code;"]

    def check(self):
        lines, indent = [], "    "
        for check in self.checks:
            lines += assignment(indent, check)
            lines.append("    if (code == MPI_SUCCESS)")
            indent = "        "
        return [*lines[:-1], *self.usable(), *self.stop()] if lines else []

    def usable(self):
        """A call on a revoked communicator, window or file fails at each member by itself, but for those
        above."""
        name, does = self.function.name, set(self.function.does.split())
        if name in AFTER_REVOCATION or name.startswith("MPIX_") or "end" in does:
            return []
        needs = {"struct weft_comm": {"collective"}, "struct weft_win": {"collective", "rma", "epoch"},
                 "struct weft_file": {"collective", "file"}}
        lines = []
        for object_name, kind in self.objects.items():
            if needs.get(kind.struct, set()) & does:
                comm = object_name if kind.struct == "struct weft_comm" else f"{object_name}->comm"
                lines += [f"    if ({object_name} && weft_unlikely(weft_arg_is_revoked({comm}))) {{",
                          f"        code = weft_comm_report_revoked({comm});", "        goto leave;", "    }"]
        return lines

    def stop(self):
        """What follows the checks: an error is that of all ranks, where the call is collective."""
        comm = self.collective and self.collective["collective"]
        begin = [f"    code = weft_comm_begin({comm}, code);"] if comm and self.collective["begins"] else []
        if comm and not begin:
            refuse = "weft_comm_refuse" + ("_joined" if self.collective["joins"] else "")
            return ["    if (code != MPI_SUCCESS) {", f"        {refuse}({comm}, code);",
                    "        goto leave;", "    }"]
        return [*begin, "    if (code != MPI_SUCCESS)", "        goto leave;"]

    def code(self):
        return [f'#line {self.stanza.line} "{FILE}"', *self.stanza.code, HERE] if self.stanza.code else []

    def give(self):
        """Returns new handles, but for communicators, and keeps the list of handles."""
        lines = []
        for kind in self.made.values():
            if self.sets(kind.made):
                lines += [f"if (code == MPI_SUCCESS && !{kind.made})", "    code = MPI_ERR_NO_MEM;"]
        done = []
        for name, kind in self.made.items():
            if kind.struct != "struct weft_comm":
                done += given(name, kind)
        for name, kind in self.objects.items():
            if kind.null in LISTED and self.sets(f"*{name}_handle"):
                done.append(f"weft_handle_list_remove({name}_in);")
        return lines + guarded("code == MPI_SUCCESS", done)

    def leave(self):
        """Returns a new communicator, or the null handle in any case, and leaves the library."""
        lines = []
        for name, kind in self.made.items():
            if kind.struct == "struct weft_comm":
                lines += guarded(name, given(name, kind))
        for name in self.objects:
            base = self.type_of(name)
            if base in HANDLERS and self.stanza.lock not in ("comm", "file-new", *VCIS):
                return [*lines, f"return {HANDLERS[base].format(name)};"]
        return [*lines, f"return {LOCKS[self.stanza.lock][1]};"]

    def body(self):
        if self.stanza.lock == "value":
            used = any(re.search(r"\bfunction\b", line) for line in self.stanza.code)
            return [*(indented([f"const char *function = {self.name()};"]) if used else []), *self.code()]
        return [*indented(self.declarations()), *indented(self.enter()), *self.check(), *self.code(),
                *indented(self.give()), *(["leave:"] if self.checks else []), *indented(self.leave())]


def given(name, kind):
    """The statements that return a new handle."""
    lines = [f"*{name} = {kind.give};"]
    if kind.null in LISTED:
        word = kind.null[len("MPI_"):-len("_NULL")]
        lines.append(f"weft_handle_list_add(*{name}, WEFT_KIND_{word});")
    return lines


def guarded(condition, lines):
    """Statements under a condition."""
    if len(lines) < 2:
        return [f"if ({condition})", *indented(lines)] if lines else []
    return [f"if ({condition}) {{", *indented(lines), "}"]


def indented(lines):
    return ["    " + line for line in lines]


def assignment(indent, expression):
    """The lines of `code = f(...);`."""
    line = f"{indent}code = {expression};"
    if len(line) <= WIDTH:
        return [line]
    function, _, arguments = expression[:-1].partition("(")
    return wrap(f"{indent}code = {function}(", arguments.split(", "), ");").split("\n")
