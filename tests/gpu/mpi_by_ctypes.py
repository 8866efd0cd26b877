# SPDX-License-Identifier: BSD-3-Clause
"""A few calls of MPI from Python, named and called as in mpi4py's module MPI, on the standard binary
interface: buffers are objects with __cuda_array_interface__ or arrays of the module array, alone or
as [object, count, datatype]."""

import ctypes
import os

library = ctypes.CDLL(os.environ["WEFT_TEST_LIBRARY"])
ANY_SOURCE, IN_PLACE = -1, 1  # handles and constants: MPI 5.0, appendix A


class Datatype:
    def __init__(self, handle):
        self.handle = handle

    def Create_vector(self, count, length, stride):
        new = ctypes.c_void_p()
        call("MPI_Type_vector", count, length, stride, self.handle, ctypes.byref(new))
        return Datatype(new)

    def Commit(self):
        call("MPI_Type_commit", ctypes.byref(self.handle))
        return self

    def Free(self):
        call("MPI_Type_free", ctypes.byref(self.handle))


def handle(value):
    return ctypes.c_void_p(value)


BYTE, FLOAT, DOUBLE = Datatype(handle(0x247)), Datatype(handle(0x210)), Datatype(handle(0x214))
INT32_T, INT64_T = Datatype(handle(0x250)), Datatype(handle(0x258))
TYPES = {"<f8": DOUBLE, "<f4": FLOAT, "<i4": INT32_T, "<i8": INT64_T, "|u1": BYTE}
SUM = handle(0x21)


def call(name, *arguments):
    error = getattr(library, name)(*arguments)
    assert not error, f"{name} returned {error}"


def elements(buffer):
    """Address, count, datatype."""
    if isinstance(buffer, list):
        at, _, _ = elements(buffer[0])
        return at, buffer[1], buffer[2].handle
    if hasattr(buffer, "__cuda_array_interface__"):
        found, count = buffer.__cuda_array_interface__, 1
        assert found["strides"] is None and not found.get("mask")
        for n in found["shape"]:
            count *= n
        return handle(found["data"][0]), count, TYPES[found["typestr"]].handle
    at, count = buffer.buffer_info()
    kind = {"d": DOUBLE, "f": FLOAT, "i": INT32_T, "q": INT64_T, "B": BYTE}[buffer.typecode]
    return handle(at), count, kind.handle


def elements_for_one(buffer, size):
    at, count, kind = elements(buffer)
    return at, count // size, kind


class Request:
    def __init__(self):
        self.handle = ctypes.c_void_p()

    def Wait(self):
        call("MPI_Wait", ctypes.byref(self.handle), None)


class Comm:
    def __init__(self, handle_value):
        self.handle, number = handle(handle_value), ctypes.c_int()
        call("MPI_Comm_rank", self.handle, ctypes.byref(number))
        self.rank = number.value
        call("MPI_Comm_size", self.handle, ctypes.byref(number))
        self.size = number.value

    def Send(self, buffer, dest, tag=0):
        call("MPI_Send", *elements(buffer), dest, tag, self.handle)

    def Recv(self, buffer, source=ANY_SOURCE, tag=-1):
        call("MPI_Recv", *elements(buffer), source, tag, self.handle, None)

    def Isend(self, buffer, dest, tag=0):
        request = Request()
        call("MPI_Isend", *elements(buffer), dest, tag, self.handle, ctypes.byref(request.handle))
        return request

    def Irecv(self, buffer, source=ANY_SOURCE, tag=-1):
        request = Request()
        call("MPI_Irecv", *elements(buffer), source, tag, self.handle, ctypes.byref(request.handle))
        return request

    def Bcast(self, buffer, root=0):
        call("MPI_Bcast", *elements(buffer), root, self.handle)

    def Allreduce(self, sendbuf, recvbuf, op=SUM):
        at, count, kind = elements(recvbuf)
        from_at = handle(IN_PLACE) if sendbuf is IN_PLACE else elements(sendbuf)[0]
        call("MPI_Allreduce", from_at, at, count, kind, op, self.handle)

    def Allgather(self, sendbuf, recvbuf):
        call("MPI_Allgather", *elements(sendbuf), *elements_for_one(recvbuf, self.size), self.handle)

    def Alltoall(self, sendbuf, recvbuf):
        call("MPI_Alltoall", *elements_for_one(sendbuf, self.size),
             *elements_for_one(recvbuf, self.size), self.handle)


def Finalize():
    call("MPI_Finalize")


call("MPI_Init", None, None)
COMM_WORLD = Comm(0x101)
