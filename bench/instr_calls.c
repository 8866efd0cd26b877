// SPDX-License-Identifier: BSD-3-Clause
/*
 * instr_calls WHAT: makes 1000 calls of MPI_Isend, MPI_Irecv, MPI_Send or MPI_Recv (WHAT is isend,
 * irecv, send or recv) of 8 bytes on rank 0 of two, for bench/instructions to count.
 *
 * Invariant: the calls counted are made within measured() and nothing else is; everything was done
 * before in the same way outside of it, so that connections, pools and symbols are in place. Every
 * message finds its receive posted, except for recv.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 50, ROUNDS = 20, COUNT = 8, TAG = 3, TAG_READY = 4 };

enum what { ISEND, IRECV, SEND, RECV };

static MPI_Request requests[WINDOW];
static char buffer[WINDOW][COUNT];
static int counted; /* calls made within measured() */

static inline __attribute__((always_inline)) void calls(enum what what)
{
    for (int i = 0; i < WINDOW; i++) {
        switch (what) {
        case ISEND:
            MPI_Isend(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[i]);
            break;
        case IRECV:
            MPI_Irecv(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[i]);
            break;
        case SEND:
            MPI_Send(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
            break;
        case RECV:
            MPI_Recv(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        }
    }
}

/* Its name is what callgrind looks for. Counting makes it differ from unmeasured(): compilers fold
 * functions with the same body into one. */
__attribute__((noinline)) void measured(enum what what);
void measured(enum what what)
{
    counted += WINDOW;
    calls(what);
}

__attribute__((noinline)) static void unmeasured(enum what what)
{
    calls(what);
}

static void wait_all(enum what what)
{
    /* The checker follows a loop's first rounds only and misses the calls of the others. */
    if (what == ISEND || what == IRECV)
        // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void tell(int peer)
{
    MPI_Send(NULL, 0, MPI_CHAR, peer, TAG_READY, MPI_COMM_WORLD);
}

static void hear(int peer)
{
    MPI_Recv(NULL, 0, MPI_CHAR, peer, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void lead(enum what what, int measure)
{
    if (what == ISEND || what == SEND)
        hear(1);
    if (measure)
        measured(what);
    else
        unmeasured(what);
    if (what == IRECV)
        tell(1);
    wait_all(what);
}

static void follow(enum what what)
{
    int receive = what == ISEND || what == SEND;
    if (what == IRECV)
        hear(0);
    for (int i = 0; i < WINDOW; i++)
        if (receive)
            MPI_Irecv(buffer[i], COUNT, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Isend(buffer[i], COUNT, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    if (receive)
        tell(0);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"isend", "irecv", "send", "recv"};
    int rank, size, what = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (what < 4 && (argc != 2 || strcmp(argv[1], names[what]) != 0))
        what++;
    if (what == 4 || size != 2) {
        if (rank == 0)
            fprintf(stderr, "usage: instr_calls isend|irecv|send|recv, on 2 ranks\n");
        MPI_Finalize();
        return 2;
    }
    for (int round = 0; round < 2 * ROUNDS; round++) {
        if (rank == 0)
            lead((enum what)what, round >= ROUNDS);
        else
            follow((enum what)what);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d calls of %s\n", counted, names[what]);
    MPI_Finalize();
    return 0;
}
