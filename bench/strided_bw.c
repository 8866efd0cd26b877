// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_strided_bw: what holes cost. Bandwidth of messages from rank 0 to rank 1 that are contiguous
 * on both sides, strided at the sender, at the receiver, and on both, measured in turns: one
 * message of each kind after the other, so that all of them see the same machine.
 *
 *     weft_strided_bw [-m BYTES] [-r RUN] [-n TURNS] [-l]
 *
 * -l adds what the same layouts take without MPI, by hand (strided_hand.h), in the same turns; and,
 * the limit of any way, what one core takes to bring the runs together in a cache, and from there
 * to their places, with nobody to send them to.
 *
 * RUN bytes of data alternate with RUN bytes of hole (8 unless told). Ratios are those of
 * contiguous time to strided time: the median over the turns, and that of the best times, which a
 * busy machine spoils less.
 */
#include "figures.h"
#include "strided_hand.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 1, MOST_TURNS = 1000 };

/* Which side has holes, and how the message goes. */
static const struct kind {
    const char *name;
    bool holes[2];
    enum { MESSAGE, BY_HAND, BY_HAND_PAST, ALONE } how;
} kinds[] = {{"contiguous", {false, false}, MESSAGE},
             {"strided to contiguous", {true, false}, MESSAGE},
             {"contiguous to strided", {false, true}, MESSAGE},
             {"strided to strided", {true, true}, MESSAGE},
             {"s to c by hand", {true, false}, BY_HAND},
             {"s to c by hand, past", {true, false}, BY_HAND_PAST},
             {"c to s by hand", {false, true}, BY_HAND},
             {"c to s by hand, past", {false, true}, BY_HAND_PAST},
             {"s to s by hand", {true, true}, BY_HAND},
             {"s to s by hand, past", {true, true}, BY_HAND_PAST},
             {"one core, gathering", {true, false}, ALONE},
             {"one core, scattering", {false, true}, ALONE}};
enum { KINDS = sizeof kinds / sizeof kinds[0], MESSAGES = 4 };

struct bench {
    long bytes, run;
    int turns, rank, kinds;
    bool limits;
    struct strided_hand *hand;
    char *flat, *holes;
    MPI_Datatype strided;
    double seconds[KINDS][MOST_TURNS];
};

static void send_one_way(struct bench *b, bool holes)
{
    void *buffer = holes ? b->holes : b->flat;
    MPI_Count count = holes ? 1 : b->bytes;
    MPI_Datatype type = holes ? b->strided : MPI_BYTE;
    if (b->rank == 0)
        MPI_Send_c(buffer, count, type, 1, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv_c(buffer, count, type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* By the one that has holes; the other waits. */
static void move_alone(int rank, const struct strided_side *side)
{
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (side->holes)
        strided_hand_alone(side, rank == 1);
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
}

static void one_way(struct bench *b, const struct kind *kind)
{
    bool holes = kind->holes[b->rank];
    const struct strided_side side = {holes ? b->holes : b->flat, (size_t)b->bytes, (size_t)b->run,
                                      holes};
    if (kind->how == MESSAGE)
        send_one_way(b, holes);
    else if (kind->how == ALONE)
        move_alone(b->rank, &side);
    else
        strided_hand_move(b->hand, b->rank, &side, kind->how == BY_HAND_PAST);
    if (b->rank == 0)
        MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

static double median(const double *of, int n)
{
    double sorted[MOST_TURNS];
    // cppcheck-suppress uninitvar ; there is at least one turn
    memcpy(sorted, of, (size_t)n * sizeof *of);
    return bench_median(sorted, n);
}

static double best(const double *of, int n)
{
    double least = of[0];
    for (int i = 1; i < n; i++)
        least = of[i] < least ? of[i] : least;
    return least;
}

static void report(const struct bench *b)
{
    printf("# %ld bytes, runs of %ld, %d turns\n%-24s %14s %10s %14s %10s\n", b->bytes, b->run,
           b->turns, "# layout", "MB/s", "ratio", "best MB/s", "ratio");
    for (int kind = 0; kind < b->kinds; kind++) {
        double ratios[MOST_TURNS];
        for (int i = 0; i < b->turns; i++)
            ratios[i] = b->seconds[0][i] / b->seconds[kind][i];
        double shortest = best(b->seconds[kind], b->turns);
        printf("%-24s %14.1f %10.3f %14.1f %10.3f\n", kinds[kind].name,
               (double)b->bytes / 1e6 / median(b->seconds[kind], b->turns),
               median(ratios, b->turns), (double)b->bytes / 1e6 / shortest,
               best(b->seconds[0], b->turns) / shortest);
    }
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "weft_strided_bw: no memory for %zu bytes; lower -m\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(p, 1, bytes);
    return p;
}

static bool parse(struct bench *b, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "m:r:n:l")) != -1) {
        long value = option == '?' ? 0 : option == 'l' ? 1 : atol(optarg);
        if (option == 'm')
            b->bytes = value;
        else if (option == 'r')
            b->run = value;
        else if (option == 'n')
            b->turns = (int)value;
        else
            b->limits = true;
        if (value < 1)
            return false;
    }
    b->bytes -= b->bytes % (b->run ? b->run : 1);
    return optind == argc && b->bytes >= b->run && b->run > 0 && b->turns <= MOST_TURNS &&
           (!b->limits || b->run <= STRIDED_HAND_RUN);
}

int main(int argc, char **argv)
{
    static struct bench b = {.bytes = 64 << 20, .run = 8, .turns = 11};
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!parse(&b, argc, argv) || size != 2) {
        if (b.rank == 0)
            fprintf(stderr,
                    "usage: weft_strided_bw [-m BYTES] [-r RUN] [-n TURNS] [-l], on 2 ranks; "
                    "with -l, runs have at most %d bytes\n",
                    STRIDED_HAND_RUN);
        MPI_Finalize();
        return 2;
    }
    b.flat = memory((size_t)b.bytes);
    b.holes = memory(2 * (size_t)b.bytes);
    MPI_Type_create_hvector_c(b.bytes / b.run, b.run, 2 * b.run, MPI_BYTE, &b.strided);
    MPI_Type_commit(&b.strided);
    b.hand = b.limits ? strided_hand_open(b.rank) : NULL;
    if (b.limits && !b.hand && b.rank == 0)
        printf("# no limits: the ranks do not share a machine\n");
    b.kinds = b.hand ? KINDS : MESSAGES;
    for (int turn = -1; turn < b.turns; turn++) /* the first one warms up */
        for (int kind = 0; kind < b.kinds; kind++) {
            double start = MPI_Wtime();
            one_way(&b, &kinds[kind]);
            if (turn >= 0)
                b.seconds[kind][turn] = MPI_Wtime() - start;
        }
    if (b.rank == 0)
        report(&b);
    MPI_Type_free(&b.strided);
    free(b.flat);
    free(b.holes);
    MPI_Finalize();
    return 0;
}
