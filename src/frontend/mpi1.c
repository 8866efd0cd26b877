// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions of MPI-1 that newer standards lack.
 */
#include "frontend/frontend.h"

FRONT_DEFINE(Address, int, (void *location, MPI_Aint *address))
{
    return front_Get_address(location, address);
}

FRONT_DEFINE(Errhandler_create, int, (front_function * function, front_Errhandler *errhandler))
{
    return front_Comm_create_errhandler(function, errhandler);
}

FRONT_DEFINE(Errhandler_get, int, (front_Comm comm, front_Errhandler *errhandler))
{
    return front_Comm_get_errhandler(comm, errhandler);
}

FRONT_DEFINE(Errhandler_set, int, (front_Comm comm, front_Errhandler errhandler))
{
    return front_Comm_set_errhandler(comm, errhandler);
}

FRONT_DEFINE(Type_extent, int, (front_Datatype type, MPI_Aint *extent))
{
    MPI_Aint lb;
    return front_Type_get_extent(type, &lb, extent);
}

FRONT_DEFINE(Type_lb, int, (front_Datatype type, MPI_Aint *lb))
{
    MPI_Aint extent;
    return front_Type_get_extent(type, lb, &extent);
}

FRONT_DEFINE(Type_ub, int, (front_Datatype type, MPI_Aint *ub))
{
    MPI_Aint lb, extent;
    int code = front_Type_get_extent(type, &lb, &extent);
    if (code == MPI_SUCCESS)
        *ub = lb + extent;
    return code;
}

FRONT_DEFINE(Type_hvector, int,
             (int count, int blocklength, MPI_Aint stride, front_Datatype oldtype,
              front_Datatype *newtype))
{
    return front_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

FRONT_DEFINE(Type_hindexed, int,
             (int count, int blocklengths[], MPI_Aint displacements[], front_Datatype oldtype,
              front_Datatype *newtype))
{
    return front_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

FRONT_DEFINE(Type_struct, int,
             (int count, int blocklengths[], MPI_Aint displacements[], front_Datatype types[],
              front_Datatype *newtype))
{
    return front_Type_create_struct(count, blocklengths, displacements, types, newtype);
}
