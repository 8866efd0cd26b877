// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,4 lanes=rxm,rxm-soft,shm,shm-coll,mixed seconds=60
/*
 * Collectives that one rank refuses because of a wrong argument, under MPI_ERRORS_RETURN: the ranks
 * that wait for it get the same error class, with a sentence that names the rank; a correct call
 * afterwards is in step. Blocking, nonblocking and persistent; short and long data; each rank in
 * turn refuses; on an inter-communicator both a rank of the local and one of the remote group.
 */
#include "check.h"

enum { LONG = 300000 };

static int *in, *out;

/* A correct collective on the communicator gives the right result. */
static void check_in_step(MPI_Comm comm)
{
    int size, sum = 0, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    rank++;
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "refused");
    CHECK(sum == size * (size + 1) / 2, "the sum is %d with %d ranks", sum, size);
}

/* The error of a rank that waits for the one that refuses. */
static void check_waiting(int code, int expected, int refuser)
{
    char text[MPI_MAX_ERROR_STRING], name[32];
    int class = -1, length;
    MPI_Error_class(code, &class);
    CHECK(class == expected, "error class %d, not %d", class, expected);
    MPI_Error_string(code, text, &length);
    snprintf(name, sizeof name, "rank %d refuses", refuser);
    CHECK(strstr(text, name) != NULL, "the error \"%s\" does not contain \"%s\"", text, name);
}

static void check_outcome(int code, int expected, int refuser)
{
    int class = -1;
    MPI_Error_class(code, &class);
    if (check.rank == refuser)
        CHECK(class == expected, "the wrong call returned class %d, not %d", class, expected);
    else
        check_waiting(code, expected, refuser);
}

/* All ranks need the data of all others. */
static void blocking(int refuser, int count)
{
    int mine = check.rank == refuser ? -1 : count;
    check_step("MPI_Allreduce of %d, refused by rank %d", count, refuser);
    check_outcome(MPI_Allreduce(in, out, mine, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT,
                  refuser);
    check_in_step(MPI_COMM_WORLD);
    check_step("MPI_Alltoall, refused by rank %d", refuser);
    MPI_Datatype type = check.rank == refuser ? MPI_DATATYPE_NULL : MPI_INT;
    check_outcome(MPI_Alltoall(in, 1, MPI_INT, out, 1, type, MPI_COMM_WORLD), MPI_ERR_TYPE,
                  refuser);
    check_in_step(MPI_COMM_WORLD);
}

/* Two calls are refused before the other ranks make the first one. */
static void nonblocking(int refuser, int count)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int mine = check.rank == refuser ? -1 : count, codes[2];
    check_step("two MPI_Iallreduce of %d, refused by rank %d", count, refuser);
    for (int i = 0; i < 2; i++)
        codes[i] = MPI_Iallreduce(in, out + (size_t)i * LONG, mine, MPI_INT, MPI_SUM,
                                  MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; i++) {
        if (check.rank != refuser)
            codes[i] = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        check_outcome(codes[i], MPI_ERR_COUNT, refuser);
    }
    check_in_step(MPI_COMM_WORLD);
}

static void persistent(int refuser)
{
    MPI_Request request = MPI_REQUEST_NULL;
    check_step("MPI_Allreduce_init, refused by rank %d", refuser);
    int code = MPI_Allreduce_init(in, out, check.rank == refuser ? -1 : 10, MPI_INT, MPI_SUM,
                                  MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2 && check.rank != refuser; i++) {
        MPI_Start(&request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_waiting(code, MPI_ERR_COUNT, refuser);
    }
    if (check.rank == refuser)
        check_outcome(code, MPI_ERR_COUNT, refuser);
    else
        MPI_Request_free(&request);
    check_in_step(MPI_COMM_WORLD);
}

/* Rank 0 of one side refuses; the ranks of the other side wait for it. */
static void between_groups(void)
{
    MPI_Comm local, inter;
    int color = check.rank % 2, rank;
    check_step("an inter-communicator");
    MPI_Comm_split(MPI_COMM_WORLD, color, check.rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - color, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_rank(inter, &rank);
    bool refuses = color == 0 && rank == 0;
    int code = MPI_Allgather(in, refuses ? -1 : 1, MPI_INT, out, 1, MPI_INT, inter);
    if (refuses)
        check_outcome(code, MPI_ERR_COUNT, check.rank);
    else if (color == 1)
        check_waiting(code, MPI_ERR_COUNT, 0);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    check_in_step(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 0);
    in = check_alloc(LONG * sizeof *in);
    out = check_alloc(2 * LONG * sizeof *out);
    memset(in, 0, LONG * sizeof *in);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int refuser = 0; refuser < check.size; refuser++) {
        blocking(refuser, 10);
        blocking(refuser, LONG);
        nonblocking(refuser, 10);
        nonblocking(refuser, LONG);
        persistent(refuser);
    }
    between_groups();
    free(in);
    free(out);
    return check_done();
}
