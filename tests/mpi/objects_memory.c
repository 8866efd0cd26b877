// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,net-soft seconds=150
/*
 * Communicators, cancelled sends, persistent collectives and windows that are made and freed again
 * and again: the memory of the process stays as it is.
 */
#include "check.h"

/* Each growth is the least of three, because the system and other threads touch pages now and then.
 * A loss of 32 bytes for each communicator or request shows. */
enum { ROUNDS = 3, OBJECTS = 2000, SLACK = 64 << 10, WARM = 2500 };

static void duplicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void cancel(void)
{
    int value = 0;
    MPI_Request request;
    MPI_Issend(&value, 1, MPI_INT, 1 - check.rank, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persist(void)
{
    int in = 1, out = 0;
    MPI_Request request;
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void window(void)
{
    MPI_Win win;
    int *memory;
    MPI_Win_allocate(1000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_free(&win);
}

static void repeat(const char *what, void (*make)(void), int times)
{
    long least = 0;
    check_step("%s", what);
    for (int round = 0; round < ROUNDS; round++) {
        long before = check_status_kib("VmRSS"), data = check_status_kib("VmData");
        for (int i = 0; i < times; i++) {
            make();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        long growth = check_status_kib("VmRSS") - before;
        long reserved = check_status_kib("VmData") - data;
        growth = reserved > growth ? reserved : growth;
        least = round == 0 || growth < least ? growth : least;
    }
    CHECK(least * 1024 < SLACK, "%d times %s: the process grew by %ld KiB", times, what, least);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_step("the first ones");
    for (int i = 0; i < WARM; i++) { /* the provider's rings, and pools */
        duplicate();
        cancel();
        if (i % 8 == 0) {
            persist();
            window();
        }
    }
    repeat("MPI_Comm_dup", duplicate, OBJECTS);
    repeat("MPI_Issend, cancelled", cancel, OBJECTS / 2);
    repeat("MPI_Allreduce_init", persist, OBJECTS);
    repeat("MPI_Win_allocate", window, OBJECTS / 8);
    return check_done();
}
