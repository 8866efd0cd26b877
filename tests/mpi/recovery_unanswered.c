// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,net-soft,nodes deaths=yes seconds=40
// run: ranks=3 lanes=shm,mixed deaths=yes seconds=40
/*
 * A rank dies while others read its memory: a long message to rank 0, contiguous or with holes, and
 * its window by rank 1. It makes no progress between its message and its death, so where a read
 * needs that (psm2) it is never answered. The reads end, and the others compute together; what they
 * start long after the death ends, too.
 */
#include "deaths.h"

enum { INTS = 1 << 18, PAUSE_US = 300000, LATER_US = 1500000 };

static int data[2 * INTS], got[2 * INTS];

static void expect_end(const char *what, int code)
{
    int class = check_class(code);
    CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED, "%s: class %d", what, class);
}

static void announce_and_die(MPI_Datatype holes)
{
    MPI_Request requests[2];
    MPI_Isend(data, INTS, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, 1, holes, 0, 2, MPI_COMM_WORLD, &requests[1]);
    usleep(PAUSE_US);
    die();
}

static void receive(int victim, MPI_Datatype holes)
{
    MPI_Request requests[2];
    MPI_Irecv(got, 1, holes, victim, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data, INTS, MPI_INT, victim, 2, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        check_step("waiting for message %d of rank %d", i, victim);
        expect_end("MPI_Wait", MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
}

static void access_window(MPI_Win win, int victim)
{
    check_step("reading the window of rank %d", victim);
    int code = MPI_Get(got, INTS, MPI_INT, victim, 0, INTS, MPI_INT, win);
    expect_end("MPI_Get", code ? code : MPI_Win_flush(victim, win));
    check_step("writing to the window of rank %d", victim);
    code = MPI_Put(got, INTS, MPI_INT, victim, 0, INTS, MPI_INT, win);
    expect_end("MPI_Put", code ? code : MPI_Win_flush(victim, win));
}

int main(int argc, char **argv)
{
    MPI_Datatype holes;
    MPI_Win win;
    MPI_Comm living;
    int flag = 1;
    check_begin(&argc, &argv, 3);
    check_errors_return();
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    MPI_Win_create(data, sizeof data, sizeof data[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    int victim = check.size - 1;
    if (check.rank == victim)
        announce_and_die(holes);
    if (check.rank == 0)
        receive(victim, holes);
    else
        access_window(win, victim);
    check_step("computing with the living ranks");
    await_deaths(MPI_COMM_WORLD, 1);
    usleep(LATER_US);
    CHECK_CLASS(MPIX_Comm_shrink(MPI_COMM_WORLD, &living), MPI_SUCCESS);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_SUM, living), MPI_SUCCESS);
    CHECK(flag == check.size - 1, "the sum is %d", flag);
    access_window(win, victim);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&living);
    MPI_Type_free(&holes);
    return check_survived();
}
