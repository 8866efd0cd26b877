// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions of MPI-1 that newer standards lack, beside those that have another name there.
 */
#include "frontend/frontend.h"

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
