// SPDX-License-Identifier: BSD-3-Clause
/*
 * What programs from before MPI 5.0 use and the standard ABI's mpi.h lacks: MPI_Fint with the
 * conversions of handles between C and Fortran, and functions that MPI 3.0 removed. Nobody gets it
 * unasked: include it, or compile with `mpicc -include weft_compat.h`.
 *
 * Everything is an inline function on top of mpi.h, so a program that uses it still runs with every
 * library of the standard ABI. MPI_Fint is int, as Fortran's default INTEGER is unless a compiler's
 * option makes it wider. Missing, as nothing can stand for them any more: MPI_LB and MPI_UB,
 * MPI_COMBINER_*_INTEGER, MPI_F_STATUS_IGNORE, and the PMPI names.
 */
#ifndef WEFT_COMPAT_H
#define WEFT_COMPAT_H

#include <mpi.h>
#include <string.h>

/* ---- Handles as Fortran's INTEGERs. The names with _c2f take a handle, those with _f2c give it
 * back; an integer that is no handle gives the null handle. */
typedef int MPI_Fint;

static inline MPI_Fint MPI_Comm_c2f(MPI_Comm comm)
{
    return MPI_Comm_toint(comm);
}

static inline MPI_Comm MPI_Comm_f2c(MPI_Fint comm)
{
    return MPI_Comm_fromint(comm);
}

static inline MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler errhandler)
{
    return MPI_Errhandler_toint(errhandler);
}

static inline MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint errhandler)
{
    return MPI_Errhandler_fromint(errhandler);
}

static inline MPI_Fint MPI_File_c2f(MPI_File file)
{
    return MPI_File_toint(file);
}

static inline MPI_File MPI_File_f2c(MPI_Fint file)
{
    return MPI_File_fromint(file);
}

static inline MPI_Fint MPI_Group_c2f(MPI_Group group)
{
    return MPI_Group_toint(group);
}

static inline MPI_Group MPI_Group_f2c(MPI_Fint group)
{
    return MPI_Group_fromint(group);
}

static inline MPI_Fint MPI_Info_c2f(MPI_Info info)
{
    return MPI_Info_toint(info);
}

static inline MPI_Info MPI_Info_f2c(MPI_Fint info)
{
    return MPI_Info_fromint(info);
}

static inline MPI_Fint MPI_Message_c2f(MPI_Message message)
{
    return MPI_Message_toint(message);
}

static inline MPI_Message MPI_Message_f2c(MPI_Fint message)
{
    return MPI_Message_fromint(message);
}

static inline MPI_Fint MPI_Op_c2f(MPI_Op op)
{
    return MPI_Op_toint(op);
}

static inline MPI_Op MPI_Op_f2c(MPI_Fint op)
{
    return MPI_Op_fromint(op);
}

static inline MPI_Fint MPI_Request_c2f(MPI_Request request)
{
    return MPI_Request_toint(request);
}

static inline MPI_Request MPI_Request_f2c(MPI_Fint request)
{
    return MPI_Request_fromint(request);
}

static inline MPI_Fint MPI_Session_c2f(MPI_Session session)
{
    return MPI_Session_toint(session);
}

static inline MPI_Session MPI_Session_f2c(MPI_Fint session)
{
    return MPI_Session_fromint(session);
}

static inline MPI_Fint MPI_Type_c2f(MPI_Datatype datatype)
{
    return MPI_Type_toint(datatype);
}

static inline MPI_Datatype MPI_Type_f2c(MPI_Fint datatype)
{
    return MPI_Type_fromint(datatype);
}

static inline MPI_Fint MPI_Win_c2f(MPI_Win win)
{
    return MPI_Win_toint(win);
}

static inline MPI_Win MPI_Win_f2c(MPI_Fint win)
{
    return MPI_Win_fromint(win);
}

/* A status is as many integers in Fortran as in C (MPI_STATUS_SIZE, 8), in the same order. */
static inline int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    memcpy(f_status, c_status, sizeof *c_status);
    return MPI_SUCCESS;
}

static inline int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    memcpy(c_status, f_status, sizeof *c_status);
    return MPI_SUCCESS;
}

/* A status of module mpi_f08 is the same. */
typedef MPI_Status MPI_F08_status;

static inline int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    *f08_status = *c_status;
    return MPI_SUCCESS;
}

static inline int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    *c_status = *f08_status;
    return MPI_SUCCESS;
}

static inline int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return MPI_Status_f2c(f_status, f08_status);
}

static inline int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return MPI_Status_c2f(f08_status, f_status);
}

/* ---- Functions that MPI 3.0 removed, by those that replaced them */
typedef MPI_Comm_errhandler_function MPI_Handler_function;

static inline int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

static inline int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(function, errhandler);
}

static inline int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}

static inline int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}

static inline int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride,
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

static inline int MPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[],
                                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

static inline int MPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[],
                                  MPI_Datatype types[], MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}

static inline int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

static inline int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, lb, &extent);
}

static inline int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub)
{
    MPI_Aint lb, extent;
    int code = MPI_Type_get_extent(datatype, &lb, &extent);
    if (code == MPI_SUCCESS)
        *ub = MPI_Aint_add(lb, extent);
    return code;
}

#endif
