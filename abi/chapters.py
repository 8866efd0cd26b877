# SPDX-License-Identifier: BSD-3-Clause
"""The chapters of the standard, in the order of its header and of the status page."""

import re

from tables import bare_name, is_extension

# The first pattern that matches a name without MPI_ decides.
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
EXTENSIONS = "Recovery from dead processes"
# Their order, and the file of their generated entry points.
CHAPTER_FILES = {
    "Start, end and processes": "start",
    "The environment": "environment",
    "Error handling": "error",
    "Point-to-point communication": "p2p",
    "Buffered sends": "bsend",
    "Partitioned communication": "partitioned",
    "Datatypes": "datatype",
    "Collective communication": "collective",
    "Groups and communicators": "comm",
    "Deprecated attribute functions": "attribute",
    "Virtual topologies": "topology",
    "Info objects": "info",
    "One-sided communication": "rma",
    "External interfaces": "external",
    "Files": "file",
    EXTENSIONS: "recovery",
    "Tools interface": "tool",
    "ABI and handle conversion": "abi",
}


def chapter_of(function):
    bare = bare_name(function.name)
    if is_extension(function.name):
        return EXTENSIONS
    return next(title for title, pattern in CHAPTERS if re.match(pattern, bare, re.IGNORECASE))


def by_chapter(functions):
    chapters = {title: [] for title in CHAPTER_FILES}
    for function in functions:
        chapters[chapter_of(function)].append(function)
    return chapters
