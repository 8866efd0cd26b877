// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=shm deaths=yes seconds=40
/*
 * A put and a get of a rank that counts as dead, by the kernel (MPI_Win_create on a node): both are
 * errors, and its memory is not changed, although a process has its pid. Here that is the rank
 * itself, which was stopped for too long; it may be any other process, which got the pid later.
 */
#include "deaths.h"

#include <sys/uio.h>

enum { OLD = 5, NEW = 7 };

static long cell = OLD;
static struct {
    long pid;
    long *cell;
} victim;

static void check_cell(void)
{
    long found = OLD;
    struct iovec here = {&found, sizeof found}, there = {victim.cell, sizeof found};
    if (process_vm_readv((pid_t)victim.pid, &here, 1, &there, 1, 0) == sizeof found)
        CHECK(found == OLD, "the memory of the dead rank has %ld", found);
}

static void access_dead(MPI_Win win, int rank)
{
    long value = NEW;
    int put = MPI_Put(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win);
    int flushed = MPI_Win_flush(rank, win);
    CHECK_CLASS(put ? put : flushed, MPIX_ERR_PROC_FAILED);
    check_cell();
    int got = MPI_Get(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win);
    flushed = MPI_Win_flush(rank, win);
    CHECK_CLASS(got ? got : flushed, MPIX_ERR_PROC_FAILED);
    CHECK(value == NEW, "the get returned %ld", value);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int last;
    setenv("WEFT_STOPPED_TIMEOUT", "2", 1);
    check_begin(&argc, &argv, 2);
    check_errors_return();
    last = check.size - 1;
    victim.pid = getpid();
    victim.cell = &cell;
    MPI_Bcast(&victim, sizeof victim, MPI_BYTE, last, MPI_COMM_WORLD);
    MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == last) {
        printf("rank %d dies\n", last);
        fflush(stdout);
        raise(SIGSTOP);
        return 1;
    }
    await_deaths(MPI_COMM_WORLD, 1);
    check_step("the window of the dead rank");
    access_dead(win, last);
    for (int rank = 0; rank < last; rank++) /* all have looked at its memory */
        if (rank != check.rank)
            MPI_Sendrecv(NULL, 0, MPI_INT, rank, 1, NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    if (check.rank == 0)
        kill((pid_t)victim.pid, SIGKILL);
    MPI_Win_unlock(last, win);
    MPI_Win_free(&win);
    return check_survived();
}
