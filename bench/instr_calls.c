// SPDX-License-Identifier: BSD-3-Clause
/*
 * instr_calls WHAT [FIFO]: makes 1000 calls of MPI_Isend, MPI_Irecv, MPI_Send or MPI_Recv (WHAT is
 * isend, irecv, send or recv) of 8 bytes on rank 0 of two, for bench/instructions to count. With
 * isend-wait and irecv-wait the 1000 calls of MPI_Wait are counted too: all of a message's work at
 * one end. So that no polling is counted, all messages of irecv-wait have arrived before MPI_Wait:
 * rank 1 reports through the FIFO when its sends are complete. WHAT may also be a collective:
 * barrier, bcast (rank 0 is the root) or allreduce, called 100 times. Rank 0 pauses before each, so
 * that rank 1 is in the call by then, and rarely waits.
 *
 * Invariant: measured() makes the counted calls and nothing else. The same calls are made outside
 * of it before, so that connections, pools and symbols exist. Every message finds its receive
 * posted, except for recv.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 50, ROUNDS = 20, COUNT = 8, TAG = 3, TAG_READY = 4 };
enum { ROUNDS_COLLECTIVE = 100, PAUSE_US = 200 };

enum what {
    ISEND,
    IRECV,
    SEND,
    RECV,
    ISEND_WAIT,
    IRECV_WAIT,
    BARRIER,
    BCAST,
    ALLREDUCE,
    WAIT,
    KINDS = WAIT
};

static MPI_Request requests[WINDOW];
static _Alignas(double) char buffer[WINDOW + 1][COUNT];
static int counted; /* calls made within measured() */
static int fifo = -1;

#ifdef WEFT_BENCH_FORTRAN
/* In bench/instr_calls_f08.f90: one call through mpi_f08, with requests of its own. */
void f08_isend(int i);
void f08_irecv(int i);
void f08_wait_all(void);
#define MPI_Isend(buffer, count, type, peer, tag, comm, request) f08_isend(i)
#define MPI_Irecv(buffer, count, type, peer, tag, comm, request) f08_irecv(i)
#endif

static inline __attribute__((always_inline)) void calls(enum what what, int count)
{
    for (int i = 0; i < count; i++) {
        switch (what) {
        case ISEND:
        case ISEND_WAIT:
            MPI_Isend(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[i]);
            break;
        case IRECV:
        case IRECV_WAIT:
            MPI_Irecv(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[i]);
            break;
        case SEND:
            MPI_Send(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
            break;
        case RECV:
            MPI_Recv(buffer[i], COUNT, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case BARRIER:
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case BCAST:
            MPI_Bcast(buffer[i], COUNT, MPI_CHAR, 0, MPI_COMM_WORLD);
            break;
        case ALLREDUCE:
            MPI_Allreduce(buffer[i], buffer[i + 1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            break;
        case WAIT:
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            break;
        }
    }
}

#ifdef WEFT_BENCH_FORTRAN
#undef MPI_Isend
#undef MPI_Irecv
#endif

/* callgrind finds the function by its name. The counter makes it differ from unmeasured(), because
 * compilers merge functions with the same body. */
__attribute__((noinline)) void measured(enum what what, int count);
void measured(enum what what, int count)
{
    counted += count;
    calls(what, count);
}

__attribute__((noinline)) static void unmeasured(enum what what, int count)
{
    calls(what, count);
}

static void wait_all(enum what what)
{
    /* The checker follows a loop's first rounds only and misses the calls of the others. */
    if (what == ISEND || what == IRECV)
#ifdef WEFT_BENCH_FORTRAN
        f08_wait_all();
#else
        // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
#endif
}

static void tell(int peer)
{
    MPI_Send(NULL, 0, MPI_CHAR, peer, TAG_READY, MPI_COMM_WORLD);
}

static void hear(int peer)
{
    MPI_Recv(NULL, 0, MPI_CHAR, peer, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int is_collective(enum what what)
{
    return what == BARRIER || what == BCAST || what == ALLREDUCE;
}

static void run(enum what what, int measure)
{
    int count = is_collective(what) ? 1 : WINDOW;
    if (is_collective(what))
        usleep(PAUSE_US);
    if (measure)
        measured(what, count);
    else
        unmeasured(what, count);
}

static void lead(enum what what, int measure)
{
    char there;
    if (what == ISEND || what == SEND || what == ISEND_WAIT)
        hear(1);
    run(what, measure);
    if (what == IRECV || what == IRECV_WAIT)
        tell(1);
    if (what == IRECV_WAIT && read(fifo, &there, 1) != 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (what == ISEND_WAIT || what == IRECV_WAIT)
        run(WAIT, measure);
    else if (!is_collective(what))
        wait_all(what);
}

static void follow(enum what what)
{
    int receive = what == ISEND || what == SEND || what == ISEND_WAIT;
    if (is_collective(what)) {
        unmeasured(what, 1);
        return;
    }
    if (what == IRECV || what == IRECV_WAIT)
        hear(0);
    for (int i = 0; i < WINDOW; i++)
        if (receive)
            MPI_Irecv(buffer[i], COUNT, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Isend(buffer[i], COUNT, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    if (receive)
        tell(0);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (what == IRECV_WAIT && write(fifo, "", 1) != 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"isend",      "irecv",   "send",  "recv",     "isend-wait",
                                        "irecv-wait", "barrier", "bcast", "allreduce"};
    int rank, size, what = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (what < KINDS && (argc < 2 || strcmp(argv[1], names[what]) != 0))
        what++;
    if (argc > 2)
        fifo = open(argv[2], O_RDWR);
    if (what == KINDS || size != 2 || (what == IRECV_WAIT && fifo < 0)) {
        if (rank == 0)
            fprintf(stderr, "usage: instr_calls isend|irecv|send|recv|isend-wait|irecv-wait|"
                            "barrier|bcast|allreduce [FIFO], on 2 ranks\n");
        MPI_Finalize();
        return 2;
    }
    int rounds = is_collective((enum what)what) ? ROUNDS_COLLECTIVE : ROUNDS;
    for (int round = 0; round < 2 * rounds; round++) {
        if (rank == 0)
            lead((enum what)what, round >= rounds);
        else
            follow((enum what)what);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d calls of %s\n", counted, names[what]);
    MPI_Finalize();
    return 0;
}
