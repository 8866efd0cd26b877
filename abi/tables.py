# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tables of the ABI, and wraps the C text that is made of them.

Invariant: the tables are the only place that names a function or a value of the standard, and that
states what a parameter means.
"""

import re
import textwrap
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
SPDX = "SPDX-License-Identifier: BSD-3-Clause"

Function = namedtuple("Function", "returns name parameters status does kinds")
Constant = namedtuple("Constant", "form name value")
Parameter = namedtuple("Parameter", "type name suffix kind", defaults=(None,))
# What a parameter means: functions.tsv describes it. options, about and length are tuples of words.
Kind = namedtuple("Kind", "flow word options about length flag")

STATUSES = ("hand", "entry", "collective", "construct", "widen")
DOES = ("send receive exchange probe rma file epoch start complete collective local nonblocking persistent "
        "begin end").split()
CONSTANTS = ("tag keyval error thread assert lock split seek amode typeclass combiner order topology compare distrib "
             "darg verbosity bind scope class safety ordering").split()
KINDS = [*("handle data target memory allocated packed raw value count length rank source member displacement "
           "offset index position logical number address status weights attribute callback extra object string "
           "strings arguments").split(), *CONSTANTS]
ITEM = re.compile(r"(<>|>)?(\w+)((?:\.\w+)*)(?:\(([\w,]+)\))?(?:\[([\w,*]+)\])?(?:\?(\w+))?")


class TableError(Exception):
    """A row of a table contradicts the rules above; its text names the row."""


def bare_name(name):
    """The name of a function without MPI_, or MPIX_, which extensions have that no standard has yet."""
    return re.sub("^MPIX?_", "", name)


def is_extension(name):
    return name.startswith("MPIX_")


def rows(name, columns):
    """The rows of abi/<name>, split at tabs, without comments."""
    for line in (ROOT / "abi" / name).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != columns:
            raise TableError(f"{name}: {len(cells)} columns instead of {columns}: {line}")
        yield cells


def read_functions():
    functions = [Function(*row) for row in rows("functions.tsv", 6)]
    by_name = {f.name: f for f in functions}
    return [f._replace(kinds=by_name[f.name[:-len("_c")]].kinds) if f.kinds == "=" else f for f in functions]


def read_tables():
    functions = read_functions()
    for f in functions:
        parameters_of(f)
        if f.status not in STATUSES:
            raise TableError(f"{f.name}: unknown status '{f.status}'")
        if not set(f.does.split()) <= set(DOES):
            raise TableError(f"{f.name}: no call does '{f.does}'")
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


def read_kind(function, item, names):
    match = ITEM.fullmatch(item)
    if not match or match[2] not in KINDS:
        raise TableError(f"{function.name}: '{item}' is not a kind of parameter")
    kind = Kind(match[1] or "", match[2], *(tuple(filter(None, re.split("[.,]", match[i] or ""))) for i in (3, 4, 5)),
                match[6])
    others = [word for word in (*kind.about, *kind.length, kind.flag)
              if word and not re.fullmatch(r"\d+|\*|sends|receives|MPI_MAX_\w+", word)]
    for word in others:
        if word not in names:
            raise TableError(f"{function.name}: '{item}' names '{word}', which is not a parameter")
    return kind


def parameters_of(function):
    """The parameters with their kinds; `...` is left out."""
    parameters = [p for p in split_parameters(function.parameters) if p.type != "..."]
    items = [] if function.kinds == "-" else function.kinds.split()
    if len(items) != len(parameters):
        raise TableError(f"{function.name}: {len(items)} kinds of {len(parameters)} parameters")
    names = [p.name for p in parameters]
    return [p._replace(kind=read_kind(function, item, names)) for p, item in zip(parameters, items)]


def wrap(head, items, tail):
    """`head(items)tail` in lines of at most WIDTH columns, continued under the parenthesis."""
    glued = "".join(item.replace(" ", "\0") + (" " if item.endswith("&&") else ", ") for item in items)
    glued = glued.removesuffix(", ")
    lines = textwrap.wrap(
        head.replace(" ", "\0") + glued + tail,
        WIDTH,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\0", " ")


def filled(head, items, tail, column):
    """`head` with as many items on each line as fit, continued at a column."""
    lines = [head]
    for i, item in enumerate(items):
        item += "," if i + 1 < len(items) else tail
        space = "" if lines[-1] == head or not lines[-1].strip() else " "
        if len(lines[-1]) + len(space) + len(item) <= WIDTH:
            lines[-1] += space + item
        else:
            lines.append(" " * column + item)
    return lines


def call_lines(left, call, items, tail, indent=0):
    """The lines of `left = call(items)tail`, broken as clang-format does: with the fewest breaks between the
    arguments, which stand under the parenthesis, or at the next level behind it."""
    space, deeper = " " * indent, " " * (indent + 4)
    head = f"{space}{left} = {call}("
    under = f"{deeper}{call}("
    forms = [filled(head, items, tail, len(head)), [f"{space}{left} =", *filled(under, items, tail, len(under))],
             [head, *filled(deeper, items, tail, len(deeper))]]
    breaks = [len(forms[0]) - 1, len(forms[1]) - 2, len(forms[2]) - 2]
    return cheapest([(10 * n + more, form) for n, more, form in zip(breaks, (0, 3, 11), forms)])


def declared(head, items, tail):
    """The lines of the prototype `head(items)tail`, broken as clang-format does."""
    under = filled(head, items, tail, len(head))
    behind = [head, *filled("    ", items, tail, 4)]
    forms = [(10 * (len(under) - 1), under), (10 * (len(behind) - 2) + 36, behind)]
    match = re.fullmatch(r"([\w ]+) (\w+(\(\w+\))?\()", head)
    if match and tail == (");" if match[3] else ")"):  # the type on a line of its own
        name = ("    " if match[3] else "") + match[2]
        apart = filled(name, items, tail, len(name))
        forms.append((10 * (len(apart) - 1) + 22, [match[1], *apart]))
    return cheapest(forms)


def cheapest(forms):
    """Of (cost, lines), the lines that cost least among those that fit."""
    return min(forms, key=lambda form: (max(map(len, form[1])) > WIDTH, form[0]))[1]


def statement(line):
    """The lines of a statement, broken as clang-format does if it is too long: a call, whose result may be
    assigned or returned."""
    match = re.fullmatch(r"( *)(?:([\w*][^=]*) = )?((?:return )?\w+(?:\(\w+\))?)\((.*)(\);)", line)
    if len(line) <= WIDTH or not match:
        return [line]
    space, left, call, arguments, tail = match.groups()
    items = re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", arguments)
    items = [item.strip() for item in items]
    if left:
        return call_lines(left, call, items, tail, len(space))
    head = f"{space}{call}("
    return filled(head, items, tail, len(head))


def folded(line):
    """The lines of a condition: continued under the innermost parenthesis that is open."""
    lines, columns = [], []
    while len(line) > WIDTH:
        at, kept, now = 0, [0] * WIDTH, list(columns)
        for i, c in enumerate(line[:WIDTH]):
            if c == "(":
                now.append(i + 1)
            elif c == ")":
                now.pop()
            elif c in ",&|" and line[i + 1:i + 2] == " " and now and len(now) <= len(kept):
                at, kept = i + 1, list(now)
        if not at:
            break
        lines.append(line[:at])
        line, columns = " " * kept[-1] + line[at + 1:], kept
    return [*lines, line]


def formatted(text):
    """Generated C, whose prototypes and statements are broken as clang-format does."""
    result, joined = [], ""
    for line in text.split("\n"):
        if line.startswith(("#", "//", " *", "/*")):
            result.append(line)
            continue
        joined += line if not joined else ("" if joined.endswith("(") else " ") + line.strip()
        if joined.count("(") > joined.count(")") or " = {" in joined and "}" not in joined:
            continue
        result += broken(joined)
        joined = ""
    return "\n".join(result)


def broken(line):
    match = re.fullmatch(r"(\w[^()]*(?:\(\w+\))?\()(.*)(\);?)", line)
    if match and len(line) > WIDTH:
        return declared(match[1], re.split(r", (?![^(]*\))", match[2]), match[3])
    match = re.fullmatch(r"(( *)\w.* = \{)(\..*\};)", line)
    if match and len(line) > WIDTH:
        behind, under = match[2] + "    " + match[3], ",\n" + " " * len(match[1]) + "."
        return [match[1], behind] if len(behind) <= WIDTH else line.replace(", .", under).split("\n")
    match = re.fullmatch(r"( *)(\w+ \w+\[\w+\],) (\*\w+ = .*;)", line)
    if match and len(line) > WIDTH:
        return [match[1] + match[2], *statement(match[1] + "    " + match[3])]
    return statement(line) if re.fullmatch(r" *\w.*\);", line) and not re.match(" *(if|for) ", line) else folded(line)


def aligned(lines):
    """Lines of code whose comments stand in one column."""
    column = max((line.index(" /*") for line in lines if " /*" in line), default=0)
    return [f"{line[:line.index(' /*')]:{column}}{line[line.index(' /*'):]}" if " /*" in line else line
            for line in lines]


def braced(head, items, tail, column):
    """The lines of the initializer `head{items}tail` at a column: one, or else one for each item."""
    line = f"{head}{{{', '.join(items)}}}{tail}"
    if column + len(line) <= WIDTH:
        return [line]
    indent = " " * (len(head) + 1)
    return [f"{head}{{{items[0]},", *[f"{indent}{item}," for item in items[1:-1]],
            f"{indent}{items[-1]}}}{tail}"]


def head_of(function, prefix=""):
    space = "" if function.returns.endswith("*") else " "
    return f"{function.returns}{space}{prefix}{function.name}("


def prototype(function, prefix="", end=");"):
    items = [p.strip() for p in function.parameters.split(",")]
    # gcc takes what an array stands for to be read, and warns of MPI_UNWEIGHTED, which is nowhere.
    items = [re.sub(r"int (\w*weights)\[\]$", r"int *\1", item) for item in items]
    return wrap(head_of(function, prefix), items, end)


def note(text, comment=("/*", " *", " */")):
    """The note at the top of a generated file."""
    lines = textwrap.wrap(text, WIDTH - 3)
    return "\n".join([comment[0]] + [f"{comment[1]} {line}" for line in lines] + [comment[2]])
