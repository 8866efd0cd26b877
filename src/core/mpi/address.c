// SPDX-License-Identifier: BSD-3-Clause
/*
 * Addresses (MPI 5.0, section 5.1.5). MPI_Aint is as wide as a pointer, so an address is its own
 * representation and arithmetic on it wraps as the unsigned type does, never overflowing.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/process/weft.h"

WEFT_EXPORT(Get_address);
int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    if (!address) {
        weft_enter_anytime();
        int code = weft_call_no_result(NULL, "MPI_Get_address", "address");
        weft_leave_anytime();
        return code;
    }
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Aint_add);
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

WEFT_EXPORT(Aint_diff);
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
