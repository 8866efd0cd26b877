#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# run: ranks=1 lanes=self seconds=30
"""Writes a program that calls every procedure of MPI once through one interface.

    tests/fortran/every_call.py mpif.h|mpi|mpi_f08 >PROGRAM

The calls stand behind a condition that is false when the program runs: that it compiles shows that
the interface takes what the standard says, and that it links and starts shows that every procedure
is there. Large counts are called by the generic names, or by the explicit ones.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "abi"))
sys.dont_write_bytecode = True
import fortran  # noqa: E402


def actual(a, f08):
    """A variable that fits the argument."""
    array = a.array or a.what in ("weights", "indices")
    if a.what == "buffer":
        return "buffer"
    if a.what in ("handle", "handles"):
        name = f"{a.type.lower()}_var"
        return f"{name}s" if array else name
    if a.what == "status":
        return "statuses" if array else "status"
    if a.what in ("string", "strings"):
        return "texts" if a.what == "strings" else "text"
    if a.what == "strings2":
        return "texts2"
    if a.what == "wide":
        kind = {"MPI_Aint": "aint", "MPI_Count": "count", "MPI_Offset": "offset"}[a.type]
        return f"{kind}_vars" if array else f"{kind}_var"
    if a.what in ("attribute", "extra"):
        return "aint_var"
    if a.what in ("old_attribute", "old_extra"):
        return "int_var"
    if a.what in ("logical", "logical_raw"):
        return "logicals" if array else "logical_var"
    if a.what == "address":
        return "pointer" if f08 else "aint_var"
    if a.what == "callback":
        return f"p_{a.type[4:]}" if f08 else "callback"
    return "ranges" if "3" in a.length else "ints" if array else "int_var"


def declarations(f08):
    lines = []
    handles = {a.type for p in fortran.procedures() for a in p.arguments
               if a.what in ("handle", "handles")}
    for kind in sorted(handles):
        name = f"{kind.lower()}_var"
        lines.append(f"type({kind}) :: {name}, {name}s(2)" if f08 else
                     f"integer :: {name}, {name}s(2)")
    lines += ["integer :: buffer(2), int_var, ints(2), ranges(3, 2), ierror, f_status(MPI_STATUS_SIZE)",
              "type(MPI_Status) :: status, statuses(2)" if f08 else
              "integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)",
              "integer(kind=MPI_ADDRESS_KIND) :: aint_var, aint_vars(2)",
              "integer(kind=MPI_COUNT_KIND) :: count_var, count_vars(2)",
              "integer(kind=MPI_OFFSET_KIND) :: offset_var, offset_vars(2)",
              "logical :: logical_var, logicals(2)", "double precision :: seconds",
              "character(len=80) :: text, texts(2), texts2(2, 2)"]  # fmt: skip
    if f08:
        lines.append("type(c_ptr) :: pointer")
    else:
        lines.append("external :: callback")
    return lines


def calls(f08, only_plain):
    lines = []
    for p in fortran.procedures():
        if f08 and p.old or only_plain and fortran.is_large(p):
            continue
        names = [actual(a, f08) for a in p.arguments]
        generic = p.name
        if fortran.is_large(p):
            plain = next(q for q in fortran.procedures() if q.name == p.name[:-2])
            generic = plain.name if fortran.is_distinct(plain, p) else p.name
        for prefix in ("", "P"):
            if p.c.returns == "double":
                lines.append(f"seconds = {prefix}{p.name}()")
            elif p.c.returns == "MPI_Aint":
                lines.append(f"aint_var = {prefix}{p.name}(aint_var, aint_var)")
            else:
                extra = [] if p.name == "MPI_Pcontrol" else ["ierror"]
                lines.append(fortran.fortran_lines(f"call {prefix}{generic}", names + extra, "",
                                                   "        ").strip())
    return lines


def main(interface):
    f08, include = interface == "mpi_f08", interface == "mpif.h"
    lines = ["program every_call"]
    if not include:
        lines.append(f"    use {interface}")
    if f08:
        lines.append("    use, intrinsic :: iso_c_binding, only: c_ptr")
    lines.append("    implicit none")
    if include:
        lines.append("    include 'mpif.h'")
    lines += ["    " + line for line in declarations(f08)]
    if f08:
        kinds = sorted({a.type for p in fortran.procedures() for a in p.arguments
                        if a.what == "callback" and not p.old})
        lines += [f"    procedure({kind}), pointer :: p_{kind[4:]}" for kind in kinds]
    lines.append("    if (command_argument_count() == 77) then")
    lines += ["        " + line for line in calls(f08, not f08)]
    for prefix in ("", "P"):
        if not include:
            lines += [f"        call {prefix}MPI_Sizeof(seconds, int_var, ierror)",
                      f"        call {prefix}MPI_Status_f2f08(f_status, {'status' if f08 else 'new'}, ierror)",
                      f"        call {prefix}MPI_Status_f082f({'status' if f08 else 'new'}, f_status, ierror)"]
        lines.append(f"        call {prefix}MPI_F_sync_reg(buffer)")
    if not include and not f08:
        lines.insert(lines.index("    external :: callback") + 1, "    type(MPI_Status) :: new")
    lines += ["    end if", "    print *, 'every procedure is there'", "end program every_call"]
    if not f08:
        lines += ["subroutine callback()", "end subroutine callback"]
    print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("mpif.h", "mpi", "mpi_f08"):
        sys.exit("usage: tests/fortran/every_call.py mpif.h|mpi|mpi_f08")
    main(sys.argv[1])
