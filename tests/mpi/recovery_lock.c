// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=shm,rxm,net-soft deaths=yes seconds=40
/*
 * A rank dies while it waits for a shared lock, which it so never holds: later locks of the living
 * ranks are as usual, an exclusive request while another one holds the lock shared included.
 */
#include "deaths.h"

enum { HOLDER, VICTIM, SHARER, TARGET };

/* HOLDER keeps the lock exclusively until VICTIM, which waits for it, has died. */
static void die_waiting(MPI_Win win)
{
    long pid = getpid();
    MPI_Bcast(&pid, 1, MPI_LONG, VICTIM, MPI_COMM_WORLD);
    if (check.rank == HOLDER)
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == VICTIM) {
        printf("rank %d dies\n", check.rank);
        fflush(stdout);
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        fprintf(stderr, "rank %d has got a lock that another rank holds\n", check.rank);
    }
    if (check.rank == HOLDER) {
        usleep(500000); /* VICTIM waits by then */
        kill((pid_t)pid, SIGKILL);
    }
    await_deaths(MPI_COMM_WORLD, 1);
    if (check.rank == HOLDER)
        CHECK_CLASS(MPI_Win_unlock(TARGET, win), MPI_SUCCESS);
}

/* HOLDER waits for the lock that SHARER holds. */
static void wait_for_living(MPI_Win win, int *memory)
{
    int value = 7;
    check_step("an exclusive lock");
    if (check.rank == HOLDER) {
        MPI_Send(NULL, 0, MPI_INT, SHARER, 1, MPI_COMM_WORLD); /* it has released its lock */
        MPI_Recv(NULL, 0, MPI_INT, SHARER, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Get(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Win_unlock(TARGET, win), MPI_SUCCESS);
        CHECK(value == 8, "the value is %d, so the lock was not exclusive", value);
        MPI_Send(NULL, 0, MPI_INT, TARGET, 3, MPI_COMM_WORLD);
    } else if (check.rank == SHARER) {
        MPI_Recv(NULL, 0, MPI_INT, HOLDER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win), MPI_SUCCESS);
        MPI_Send(NULL, 0, MPI_INT, HOLDER, 2, MPI_COMM_WORLD);
        usleep(300000);
        value = 8;
        CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Win_unlock(TARGET, win), MPI_SUCCESS);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, HOLDER, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(*memory == 8, "the memory has %d", *memory);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory;
    check_begin(&argc, &argv, 4);
    check_errors_return();
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    die_waiting(win);
    wait_for_living(win, memory);
    MPI_Win_free(&win);
    return check_survived();
}
