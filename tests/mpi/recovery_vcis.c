// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,net-soft deaths=yes seconds=40
// run: ranks=8 lanes=shm,nodes deaths=yes seconds=60
/*
 * With MPI_THREAD_MULTIPLE communicators and windows are on several VCIs, each with peers of its
 * own. The last rank dies while it holds an exclusive lock in a window on each of them, and most
 * ranks have exchanged no message with it there. Probes of it fail, and so do the calls that wait
 * for its lock, for MPI_Win_post of it, and for MPI_Win_complete.
 */
#include "deaths.h"

enum { MADE = 8 }; /* more than there are VCIs */

static MPI_Comm comms[MADE], unused[MADE]; /* over unused no message is sent before the death */
static MPI_Win wins[MADE];
static int *memory[MADE], victim;

static void make(int i)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &unused[i]);
    CHECK_CLASS(MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, comms[i], &memory[i],
                                 &wins[i]),
                MPI_SUCCESS);
    MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN);
}

static void expect_death(const char *what, int i, int code)
{
    CHECK(check_class(code) == MPIX_ERR_PROC_FAILED, "%s on communicator %d: class %d", what, i,
          check_class(code));
}

static void probe(MPI_Comm comm, int i)
{
    int flag = 0, code = MPI_SUCCESS;
    check_step("MPI_Probe on communicator %d", i);
    expect_death("MPI_Probe", i, MPI_Probe(victim, 1, comm, MPI_STATUS_IGNORE));
    check_step("MPI_Iprobe on communicator %d", i);
    while (code == MPI_SUCCESS && !flag)
        code = MPI_Iprobe(victim, 1, comm, &flag, MPI_STATUS_IGNORE);
    expect_death("MPI_Iprobe", i, code);
    check_step("MPI_Mprobe on communicator %d", i);
    MPI_Message message;
    expect_death("MPI_Mprobe", i, MPI_Mprobe(victim, 1, comm, &message, MPI_STATUS_IGNORE));
}

/* The victim holds the lock of rank i. If it is in shared memory, it is never released. */
static void lock(int i)
{
    int target = i % victim;
    check_step("MPI_Win_lock in window %d", i);
    int code = check_class(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, wins[i]));
    CHECK(code == MPIX_ERR_PROC_FAILED || code == MPI_SUCCESS, "class %d", code);
    if (code == MPI_SUCCESS)
        MPI_Win_unlock(target, wins[i]);
}

static void start(int i, MPI_Group all)
{
    MPI_Group one;
    MPI_Group_incl(all, 1, &victim, &one);
    check_step("MPI_Win_start in window %d", i);
    int code = MPI_Win_start(one, 0, wins[i]);
    if (code == MPI_SUCCESS)
        code = MPI_Win_complete(wins[i]);
    expect_death("MPI_Win_start", i, code);
    check_step("MPI_Win_wait in window %d", i);
    MPI_Win_post(one, 0, wins[i]);
    expect_death("MPI_Win_wait", i, MPI_Win_wait(wins[i]));
    MPI_Group_free(&one);
}

int main(int argc, char **argv)
{
    MPI_Group all;
    check_begin_threads(&argc, &argv, 2);
    check_errors_return();
    victim = check.size - 1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < MADE; i++)
        make(i);
    if (check.rank == victim)
        for (int i = 0; i < MADE; i++)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i % victim, 0, wins[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == victim)
        die();
    await_deaths(MPI_COMM_WORLD, 1);
    for (int i = 0; i < MADE; i++) {
        probe(unused[i], i);
        probe(comms[i], i);
        lock(i);
        start(i, all);
    }
    MPI_Group_free(&all);
    for (int i = 0; i < MADE; i++) {
        check_step("MPI_Win_free of window %d", i);
        MPI_Win_free(&wins[i]);
        MPI_Comm_free(&comms[i]);
        MPI_Comm_free(&unused[i]);
    }
    return check_survived();
}
