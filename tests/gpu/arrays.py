# SPDX-License-Identifier: BSD-3-Clause
"""Messages and collectives whose buffers are Python objects with __cuda_array_interface__.

    arrays.py MODULE DRIVER [late]    MODULE: mpi4py, or ours, mpi_by_ctypes; late: MPI starts before
                                      the driver is loaded, as where a program imports mpi4py first

The processor cannot touch memory of the stand-in for the driver, so data that arrive were copied by
the driver."""

import array
import sys

from device_array import CODES, DeviceArray, Driver

driver = None if "late" in sys.argv else Driver(sys.argv[2])
if sys.argv[1] == "mpi4py":
    from mpi4py import MPI
else:
    import mpi_by_ctypes as MPI
driver = driver or Driver(sys.argv[2])
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
after, before = (rank + 1) % size, (rank - 1) % size
live = []


def new(length, typestr, values=()):
    made = DeviceArray(driver, (length,), typestr, values)
    live.append(made)
    return made


def free_all():
    while live:
        live.pop().free()


def pattern(length, sender):
    return [(i * 7 + sender * 31) % 120 for i in range(length)]


def check(what, found, wanted):
    if list(found) != list(wanted):
        at = next(i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1])
        sys.exit(f"rank {rank}: {what}: element {at} is {found[at]} instead of {wanted[at]}")


for kind in CODES:
    for length in 0, 1, 1000, 10000, 200000:
        sent, got = new(length, kind, pattern(length, rank)), new(length, kind)
        request = world.Irecv(got, source=before, tag=1)
        world.Send(sent, dest=after, tag=1)
        request.Wait()
        check(f"{length} of {kind} from device to device", got.get(), pattern(length, before))
        host = array.array(CODES[kind], bytes(got.bytes))
        request = world.Isend(sent, dest=after, tag=2)
        world.Recv(host, source=before, tag=2)
        request.Wait()
        check(f"{length} of {kind} from device to host", host, pattern(length, before))
        free_all()

# The second column of a matrix becomes the last of another.
rows, columns = 300, 40
matrix = new(rows * columns, "<f8", pattern(rows * columns, rank))
other = new(rows * columns, "<f8")
column = MPI.DOUBLE.Create_vector(rows, 1, columns).Commit()
second = DeviceArray.__new__(DeviceArray)
last = DeviceArray.__new__(DeviceArray)
for view, of, start in (second, matrix, 1), (last, other, columns - 1):
    view.__cuda_array_interface__ = dict(of.__cuda_array_interface__, shape=(rows * columns - start,),
                                         data=(of.at.value + 8 * start, False))
request = world.Irecv([last, 1, column], source=before, tag=3)
world.Send([second, 1, column], dest=after, tag=3)
request.Wait()
wanted = [0] * (rows * columns)
wanted[columns - 1::columns] = pattern(rows * columns, before)[1::columns]
check("a column", other.get(), wanted)
column.Free()
free_all()

for length in 1, 500, 60000:
    data = new(length, "<i8", pattern(length, rank))
    total = new(length, "<i8")
    sums = [sum(column) for column in zip(*(pattern(length, r) for r in range(size)))]
    world.Allreduce(data, total)
    check(f"allreduce of {length}", total.get(), sums)
    world.Allreduce(MPI.IN_PLACE, data)
    check(f"allreduce of {length} in place", data.get(), sums)
    data.set(pattern(length, rank))
    world.Bcast(data, root=size - 1)
    check(f"broadcast of {length}", data.get(), pattern(length, size - 1))
    data.set(pattern(length, rank))
    every = new(length * size, "<i8")
    world.Allgather(data, every)
    check(f"allgather of {length}", every.get(), [v for r in range(size) for v in pattern(length, r)])
    exchanged = new(length * size, "<i8")
    every.set([v for r in range(size) for v in pattern(length, rank * size + r)])
    world.Alltoall(every, exchanged)
    check(f"alltoall of {length}", exchanged.get(),
          [v for r in range(size) for v in pattern(length, r * size + rank)])
    free_all()

MPI.Finalize()
