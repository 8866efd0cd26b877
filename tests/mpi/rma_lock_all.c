// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,sockets,net-soft,shm,nodes seconds=60
/*
 * MPI_Win_lock_all is an epoch from the call on: a rank that requests an exclusive lock later waits
 * for it, not the other way round. So the first operation of an old epoch is granted although an
 * exclusive request is queued at the target, and the rank that holds the shared lock there can wait
 * for that operation. An exclusive request is not overtaken without end: the next epoch of the same
 * rank waits for it. Lane net-soft has the progress thread.
 */
#include "check.h"

enum { PUT, GET, FLUSH, ADD, KINDS };
enum { PAUSE_US = 150000, OLD = 1, WRITTEN = 77 };

struct setting {
    MPI_Win win[2];
    int *memory[2];
    bool allocated;
};

static void open_windows(struct setting *s, bool allocated)
{
    s->allocated = allocated;
    for (int i = 0; i < 2; i++) {
        if (allocated) {
            MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                             &s->memory[i], &s->win[i]);
        } else {
            s->memory[i] = check_host(8 * sizeof(int));
            MPI_Win_create(s->memory[i], 8 * sizeof(int), sizeof(int), MPI_INFO_NULL,
                           MPI_COMM_WORLD, &s->win[i]);
        }
        for (int j = 0; j < 8; j++)
            s->memory[i][j] = OLD;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_windows(struct setting *s)
{
    for (int i = 0; i < 2; i++) {
        MPI_Win_free(&s->win[i]);
        if (!s->allocated)
            free(s->memory[i]);
    }
}

static void operate(MPI_Win win, int kind)
{
    static int value = 5; /* read until the epoch ends */
    int got = 0;
    if (kind == GET)
        MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    else if (kind == ADD)
        MPI_Accumulate(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
    else
        MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
    if (kind == FLUSH)
        MPI_Win_flush(0, win);
    if (kind == GET) {
        MPI_Win_flush(0, win);
        CHECK(got == OLD, "the get returned %d", got);
    }
}

static void lock_all(struct setting *s)
{
    MPI_Win_lock_all(0, s->win[0]);
    MPI_Win_lock_all(0, s->win[1]);
}

static void unlock_all(struct setting *s)
{
    MPI_Win_unlock_all(s->win[0]);
    MPI_Win_unlock_all(s->win[1]);
}

/* Rank 0 holds its lock until the operation of rank 2 was made; rank 1 requests it meanwhile. */
static void check_old_epoch(struct setting *s, int kind, int which)
{
    check_step("operation %d, exclusive lock of window %d, memory of %s", kind, which,
               s->allocated ? "MPI_Win_allocate" : "MPI_Win_create");
    lock_all(s);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 1) {
        unlock_all(s);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, s->win[which]);
        MPI_Win_unlock(0, s->win[which]);
    } else if (check.rank == 2) {
        usleep(PAUSE_US);
        operate(s->win[1], kind);
        operate(s->win[0], kind);
        unlock_all(s);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unlock_all(s);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void progress_for(unsigned us)
{
    int flag;
    for (unsigned done = 0; done < us; done += 1000) {
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

/* Rank 2 passes the exclusive request of rank 1 once: its second epoch waits for it. */
static void check_next_epoch(struct setting *s)
{
    int value = WRITTEN, got = 0;
    MPI_Win win = s->win[0];
    check_step("an epoch that began after the exclusive request");
    if (check.rank == 0)
        MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        progress_for(PAUSE_US);
        MPI_Win_unlock_all(win);
    } else if (check.rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&value, 1, MPI_INT, 0, 6, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    } else {
        usleep(PAUSE_US);
        MPI_Win_lock_all(0, win);
        MPI_Get(&got, 1, MPI_INT, 0, 6, 1, MPI_INT, win);
        MPI_Win_unlock_all(win);
        CHECK(got == OLD, "the first get returned %d", got);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        MPI_Get(&got, 1, MPI_INT, 0, 6, 1, MPI_INT, win);
        MPI_Win_unlock_all(win);
        CHECK(got == WRITTEN, "the second epoch was before the exclusive lock: %d", got);
    }
}

int main(int argc, char **argv)
{
    const char *shm = getenv("WEFT_SHM");
    if (getenv("WEFT_MATCHING"))
        setenv("WEFT_PROGRESS_THREAD", "on", 1);
    check_begin(&argc, &argv, 3);
    for (int allocated = 0; allocated < 2; allocated++) {
        struct setting s;
        open_windows(&s, allocated);
        for (int kind = 0; kind < KINDS; kind++)
            check_old_epoch(&s, kind, kind % 2);
        if (shm && !strcmp(shm, "0")) /* a lock word in shared memory has no queue */
            check_next_epoch(&s);
        close_windows(&s);
    }
    return check_done();
}
