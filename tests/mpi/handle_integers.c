// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * Integer forms of handles: those of predefined handles are their values, and an integer that no
 * object has is no handle, so that it is not taken for a null handle, which some calls accept.
 */
#include "check.h"

#include <limits.h>

static const int unused[] = {4096 + 4000, 0x12345678, 0x40ffffff, INT_MAX, -1, 0xfff};
enum { UNUSED = sizeof unused / sizeof unused[0] };

static void no_handles(int value)
{
    MPI_Request request = MPI_Request_fromint(value);
    MPI_Info info = MPI_Info_fromint(value);
    MPI_Status status;
    int n;
    CHECK(request != MPI_REQUEST_NULL, "%#x is MPI_REQUEST_NULL", (unsigned)value);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Info_get_nkeys(info, &n), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &(MPI_Comm){0}), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Comm_size(MPI_Comm_fromint(value), &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Type_size(MPI_Type_fromint(value), &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Group_size(MPI_Group_fromint(value), &n), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Op_commutative(MPI_Op_fromint(value), &n), MPI_ERR_OP);
    CHECK_CLASS(MPI_Win_fence(0, MPI_Win_fromint(value)), MPI_ERR_WIN);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_begin(&argc, &argv, 1);
    check_errors_return();
    for (int i = 0; i < UNUSED; i++)
        no_handles(unused[i]);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "MPI_COMM_WORLD");
    CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL, "null");
    CHECK(MPI_Info_toint(MPI_INFO_ENV) == (int)(intptr_t)MPI_INFO_ENV, "MPI_INFO_ENV");
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    int integer = MPI_Comm_toint(comm);
    CHECK(MPI_Comm_fromint(integer) == comm, "a communicator by its integer");
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_fromint(integer) != MPI_COMM_NULL, "a freed communicator is the null handle");
    return check_done();
}
