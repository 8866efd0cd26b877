// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=60
/*
 * A rank that makes only calls which need no other rank makes progress for others now and then: an
 * accumulate on its window, which its handler applies, is complete although the rank never waits.
 */
#include "check.h"

enum { KINDS = 8, SECONDS = 10 };

static void call_self(int kind)
{
    int out = 1, in = 0, flag, index;
    MPI_Request null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, pair[2];
    switch (kind) {
    case 0:
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        return;
    case 1:
        MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        return;
    case 2:
        MPI_Test(&null[0], &flag, MPI_STATUS_IGNORE);
        return;
    case 3:
        MPI_Testall(2, null, &flag, MPI_STATUSES_IGNORE);
        return;
    case 4:
        MPI_Testany(2, null, &index, &flag, MPI_STATUS_IGNORE);
        return;
    case 5:
        MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        return;
    case 6:
        MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &pair[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &pair[1]);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        return;
    default:
        MPI_Barrier(MPI_COMM_SELF);
    }
}

int main(int argc, char **argv)
{
    int window = 0, one = 1;
    MPI_Win win;
    check_begin(&argc, &argv, 1);
    MPI_Win_create(&window, sizeof window, sizeof window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int kind = 0; kind < KINDS; kind++) {
        check_step("calls of kind %d", kind);
        MPI_Barrier(MPI_COMM_WORLD);
        double end = MPI_Wtime() + SECONDS;
        if (check.rank == check.size - 1) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
            MPI_Win_unlock(0, win);
        }
        while (check.rank == 0 && MPI_Wtime() < end &&
               __atomic_load_n(&window, __ATOMIC_ACQUIRE) <= kind)
            call_self(kind);
        CHECK(check.rank || __atomic_load_n(&window, __ATOMIC_ACQUIRE) == kind + 1,
              "no progress in %d s of calls of kind %d", SECONDS, kind);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    return check_done();
}
