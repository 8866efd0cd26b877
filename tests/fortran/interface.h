/* SPDX-License-Identifier: BSD-3-Clause */
/* One source for three interfaces: MPIF_H, MODULE_MPI or MODULE_F08 is defined to 1. */
#if MODULE_F08
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(name) name%MPI_SOURCE
#define TAG_OF(name) name%MPI_TAG
#define ERROR_OF(name) name%MPI_ERROR
#define NTH(name, n) name(n)
#else
#if MODULE_MPI
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name) name(MPI_SOURCE)
#define TAG_OF(name) name(MPI_TAG)
#define ERROR_OF(name) name(MPI_ERROR)
#define NTH(name, n) name(:, n)
#endif
