// SPDX-License-Identifier: BSD-3-Clause
/*
 * Traffic for ci/faults, which makes something fail meanwhile:
 *
 *     traffic KIND SECONDS [no-cma]
 *
 * All kinds check every byte that they receive, under the default error handlers. A rank prints
 * "begins" when something can fail (kind init: the last rank, WEFT_TEST_LAST), and each rank
 * "right" after MPI_Finalize. With no-cma the kernel refuses access to the memory of others.
 *
 * Invariant: data that are wrong, or an MPI function that returns an error, end in a line with the
 * word WRONG and exit status 3.
 */
#include "../mpi/refuse.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static double seconds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void rest(double length)
{
    double end = now() + length;
    while (now() < end)
        usleep(10000);
}

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

static void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: WRONG %s\n", rank, what);
    _exit(3);
}

/* ---- One round of each kind. Word 0 of what ranks exchange is the round after which they stop,
 * which spreads from rank 0: see traffic(). */

enum { WORDS = 1 << 18 }; /* 1 MiB, above every eager limit */
static int out[2 * WORDS], in[2 * WORDS];

static void fill(int count, int stride, int round)
{
    for (int i = 1; i < count; i++)
        out[i * stride] = rank * 1000003 + round * 7919 + i;
}

static void check(int count, int stride, int source, int round)
{
    for (int i = 1; i < count; i++)
        require(in[i * stride] == source * 1000003 + round * 7919 + i, "data");
}

static void ring(int count, MPI_Datatype type, int words, int stride, int round)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    fill(words, stride, round);
    MPI_Sendrecv(out, count, type, right, 1, in, count, type, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(words, stride, left, round);
}

static void small(int round)
{
    ring(2, MPI_INT, 2, 1, round);
}

static void rendezvous(int round)
{
    ring(WORDS, MPI_INT, WORDS, 1, round);
}

static void strided(int round)
{
    static MPI_Datatype type = MPI_DATATYPE_NULL;
    if (type == MPI_DATATYPE_NULL) {
        MPI_Type_vector(WORDS, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    ring(1, type, WORDS, 2, round);
}

static void collectives(int round)
{
    enum { EACH = 64 };
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == size * (size - 1) / 2, "MPI_Allreduce");
    fill(EACH * size, 1, round);
    MPI_Alltoall(out, EACH, MPI_INT, in + 1, EACH, MPI_INT, MPI_COMM_WORLD);
    for (int source = 0; source < size; source++)
        for (int i = rank == 0; i < EACH; i++)
            require(in[1 + source * EACH + i] == source * 1000003 + round * 7919 + rank * EACH + i,
                    "MPI_Alltoall");
    memcpy(in, out, sizeof *in); /* word 0 of rank 0 */
    MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Puts, accumulates and gets, with a fence and with a lock. */
static MPI_Win window = MPI_WIN_NULL;

static void windows(int round)
{
    enum { EACH = 20000 };
    static int *memory;
    int left = (rank + size - 1) % size, right = (rank + 1) % size, one = 1;
    if (window == MPI_WIN_NULL) {
        MPI_Win_allocate((EACH + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &memory, &window);
        memory[EACH] = 0;
    }
    fill(EACH, 1, round);
    MPI_Win_fence(0, window);
    MPI_Put(out, EACH, MPI_INT, right, 0, EACH, MPI_INT, window);
    MPI_Accumulate(&one, 1, MPI_INT, right, EACH, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    require(memory[EACH] == round, "MPI_Accumulate");
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Get(in, EACH, MPI_INT, right, 0, EACH, MPI_INT, window);
    MPI_Win_unlock(right, window);
    require(!memcmp(in, out, sizeof out[0] * EACH), "MPI_Get");
    memcpy(in, memory, sizeof in[0] * EACH);
    check(EACH, 1, left, round);
}

/* Many messages of eager size at once. */
static void bursts(int round)
{
    enum { MANY = 300, EACH = 1000 };
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request sends[MANY];
    fill(EACH, 1, round);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(out, EACH, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
    for (int i = 0; i < MANY; i++) {
        MPI_Recv(in, EACH, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(EACH, 1, left, round);
    }
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
}

/* Connections that are idle for a time. */
static void pauses(int round)
{
    rest(0.4);
    ring(2, MPI_INT, 2, 1, round);
}

/* ---- Kinds */

static void traffic(void (*round_of)(int))
{
    double end = now() + seconds;
    for (int round = 1; !out[0] || round <= out[0]; round++) {
        if (rank == 0 && !out[0] && now() >= end)
            out[0] = round + size; /* each round carries it one rank further */
        round_of(round);
        if (in[0])
            out[0] = in[0];
        if (rank == 0 && round == 1)
            say("begins");
    }
}

/* First contact with all other ranks, after some seconds. */
static void connecting(void)
{
    if (rank == 0)
        say("begins");
    rest(seconds);
    for (int distance = 1; distance < size; distance++) {
        int left = (rank + size - distance) % size, right = (rank + distance) % size;
        fill(1000, 1, distance);
        MPI_Sendrecv(out, 1000, MPI_INT, right, 1, in, 1000, MPI_INT, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check(1000, 1, left, distance);
    }
}

/* The last rank is late, so that the others wait in MPI_Init or MPI_Finalize. The launcher's
 * environment has the rank before MPI_Init. */
static bool is_last(void)
{
    const char *rank_text = getenv("PMIX_RANK"), *last = getenv("WEFT_TEST_LAST");
    return rank_text && last && !strcmp(rank_text, last);
}

static void in_init(void)
{
    if (!is_last())
        return;
    say("begins");
    rest(seconds);
}

static void in_finalize(void)
{
    if (rank == 0)
        say("begins");
    if (rank == size - 1)
        rest(seconds);
}

/* ---- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*round_of)(int);
    } kinds[] = {{"small", small},     {"rendezvous", rendezvous}, {"collectives", collectives},
                 {"strided", strided}, {"windows", windows},       {"bursts", bursts},
                 {"pauses", pauses}};
    const char *kind = argc > 2 ? argv[1] : "";
    seconds = argc > 2 ? atof(argv[2]) : 0;
    if (argc > 3)
        require(refuse(SYS_process_vm_readv) && refuse(SYS_process_vm_writev), "prctl");
    if (!strcmp(kind, "init"))
        in_init();
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kind, kinds[i].name))
            traffic(kinds[i].round_of);
    if (!strcmp(kind, "connecting"))
        connecting();
    if (!strcmp(kind, "finalize"))
        in_finalize();
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    MPI_Finalize();
    say("right");
    return 0;
}
