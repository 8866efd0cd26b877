# SPDX-License-Identifier: BSD-3-Clause
"""Entry points of collectives (status `collective`): each puts its arguments into a struct
weft_coll_call and starts it in one of three ways. Operation, start and members follow from the name
and the parameters.
"""

import re

from tables import TableError, braced, split_parameters

# The side of a parameter and its member; a broadcast's data and a reduction's operand are sent.
MEMBERS = {
    "buffer": ("send", "buffer"), "sendbuf": ("send", "buffer"), "recvbuf": ("receive", "buffer"),
    "count": ("send", "count"), "sendcount": ("send", "count"), "recvcount": ("receive", "count"),
    "datatype": ("send", "type"), "sendtype": ("send", "type"), "recvtype": ("receive", "type"),
    "sendtypes": ("send", "types"), "recvtypes": ("receive", "types"),
    "sendcounts": ("send", "counts"), "recvcounts": ("receive", "counts"),
    "sdispls": ("send", "displs"), "rdispls": ("receive", "displs"),
}  # fmt: skip


def operation(name):
    """'MPI_Ineighbor_alltoallw_c' as 'NEIGHBOR_ALLTOALLW'."""
    bare = re.sub(r"(_init)?(_c)?$", "", name[len("MPI_"):])
    return re.sub(r"^I(?=[a-z])", "", bare).upper()


def start(parameters):
    types = [p.type for p in parameters]
    if "MPI_Request *" not in types:
        return "weft_coll_blocking(&call)"
    if "MPI_Info" in types:
        return "weft_coll_persistent(&call, info, request)"
    return "weft_coll_nonblocking(&call, request)"


# All members are named: a compiler clears a structure of which some are not, before it fills it.
SIDE = {"buffer": "NULL", "count": "0", "type": "MPI_DATATYPE_NULL", "arrays": "NULL"}
REST = {"comm": "MPI_COMM_NULL", "op": "MPI_OP_NULL", "root": "0"}


def body(function):
    parameters = split_parameters(function.parameters)
    names = [p.name for p in parameters]
    sides, arrays, rest = {"send": {}, "receive": {}}, {"send": [], "receive": []}, {}
    for p in parameters:
        if p.name in ("request", "info"):
            continue
        if p.name in REST:
            rest[p.name] = p.name
            continue
        if p.name == "displs":  # of the side that has counts
            side, member = "send" if "sendcounts" in names else "receive", "displs"
        elif p.name in MEMBERS:
            side, member = MEMBERS[p.name]
        else:
            raise TableError(f"{function.name}: a collective has no parameter '{p.name}'")
        if member == "types":
            arrays[side].append(f".types = {p.name}")
        elif member in ("counts", "displs"):
            wide = "false" if "int" in p.type.split() else "true"
            arrays[side].append(f".{member} = {{{p.name}, {wide}}}")
        else:
            sides[side][member] = p.name
    head = []
    for side, members in arrays.items():
        if members:
            head += [f"const struct weft_arrays {side}_arrays = {{",
                     *[f"    {member}," for member in members], "};"]
            sides[side]["arrays"] = f"&{side}_arrays"
    plain = re.sub("_c$", "", function.name)
    lines = [f'.function = "{plain}",', f".kind = WEFT_COLL_{operation(plain)},"]
    for side, members in sides.items():
        values = [f".{name} = {value}" for name, value in {**SIDE, **members}.items()]
        lines += braced(f".{side} = ", values, ",", 8)
    lines += [f".{name} = {value}," for name, value in {**REST, **rest}.items()]
    return [*head, "const struct weft_coll_call call = {", *["    " + line for line in lines], "};",
            f"return {start(parameters)};"]
