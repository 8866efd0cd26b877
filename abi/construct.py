# SPDX-License-Identifier: BSD-3-Clause
"""Constructors of datatypes (status `construct`): each lists its arguments in the order and in the
three rows in which MPI_Type_get_contents returns them: integers, addresses and large counts.
"""

import re

from tables import TableError, braced, split_parameters

ROWS = {"int": "integers", "MPI_Aint": "addresses", "MPI_Count": "large"}


def body(function):
    rows = {"integers": [], "addresses": [], "large": []}
    types = []
    names = [p.name for p in split_parameters(function.parameters)]
    count = next((name for name in ("count", "ndims") if name in names), "0")
    for p in split_parameters(function.parameters):
        base = p.type.replace("const ", "")
        if p.name == "newtype":
            continue
        if base == "MPI_Datatype":
            types = [p.name, "n"] if p.suffix else ["&" + p.name, "1"]
        elif base in ROWS:
            rows[ROWS[base]].append(f"{{{p.name}, n}}" if p.suffix else f"{{&{p.name}, 1}}")
        else:
            raise TableError(f"{function.name}: a constructor has no '{p.type} {p.name}'")
    combiner = re.sub(r"^MPI_Type_(create_)?|_c$", "", function.name).upper()
    lines = [f'.function = "{function.name}",', f".combiner = MPI_COMBINER_{combiner},",
             f".count = {count},"]
    for row, items in rows.items():
        if items:
            lines += braced(f".{row} = ", items, ",", 8)
    lines += [f".types = {types[0]},", f".ntypes = {types[1]},", ".result = newtype,"]
    head = [f"MPI_Count n = {count} < 0 ? 0 : {count};"] if "[" in function.parameters else []
    return [*head, "const struct weft_construct call = {", *["    " + line for line in lines], "};",
            "return weft_construct(&call);"]
