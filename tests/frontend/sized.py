# SPDX-License-Identifier: BSD-3-Clause
"""Loads the MPI library that is named, as MPI.jl and Python's ctypes do: the job has two ranks."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.MPI_Init(None, None)
try:
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_int.in_dll(library, "ompi_mpi_comm_world")))
except ValueError:
    world = ctypes.c_int(0x44000000)
size = ctypes.c_int()
library.MPI_Comm_size(world, ctypes.byref(size))
library.MPI_Finalize()
sys.exit(size.value != 2)
