// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,4 lanes=shm,shm-coll,rxm,rxm-soft,net-soft seconds=60
/*
 * Collectives for whose schedule one rank has no memory, under MPI_ERRORS_RETURN: that rank gets
 * MPI_ERR_NO_MEM, and so do those that wait for it, with a sentence that names it. Blocking,
 * nonblocking and persistent; a correct call afterwards is in step.
 */
#include "refused.h"

enum { COUNT = 5000, LONG_PIECE = COUNT * sizeof(int) };

#include "../no_memory.h"

static int in[COUNT], out[COUNT];
static MPI_Op op;

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

/* Begins, of a kind, a reduction of which each rank needs the operands of all others. */
static int begin(int kind, MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (kind == 0)
        return MPI_Allreduce(in, out, COUNT, MPI_INT, op, comm);
    if (kind == 1)
        return MPI_Iallreduce(in, out, COUNT, MPI_INT, op, comm, request);
    return MPI_Allreduce_init(in, out, COUNT, MPI_INT, op, comm, MPI_INFO_NULL, request);
}

static int end(int kind, int code, MPI_Request *request)
{
    if (code != MPI_SUCCESS || kind == 0)
        return code;
    if (kind == 2)
        MPI_Start(request);
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Returns true if the rank needed the memory. */
static int lack(int kind, int refuser, MPI_Comm comm)
{
    MPI_Request request;
    check_step("call %d, rank %d has no memory", kind, refuser);
    long_pieces = check.rank == refuser;
    int code = begin(kind, comm, &request), lacked = !long_pieces;
    long_pieces = 0;
    MPI_Bcast(&lacked, 1, MPI_INT, refuser, MPI_COMM_WORLD);
    code = end(kind, code, &request);
    if (lacked)
        check_refused(code, MPI_ERR_NO_MEM, refuser, "", "without memory");
    else
        CHECK_CLASS(code, MPI_SUCCESS);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    check_step("a correct call after call %d of rank %d", kind, refuser);
    CHECK_CLASS(end(0, begin(0, comm, &request), &request), MPI_SUCCESS);
    CHECK(out[COUNT - 1] == check.size, "the sum is %d", out[COUNT - 1]);
    return lacked;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_begin(&argc, &argv, 2);
    check_errors_return();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(add, 0, &op);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    for (int kind = 0; kind < 3 && can_lack_memory(); kind++) {
        int lacked = 0;
        for (int refuser = 0; refuser < check.size; refuser++)
            lacked += lack(kind, refuser, comm);
        CHECK(lacked, "no rank needed memory for call %d", kind);
    }
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    return check_done();
}
