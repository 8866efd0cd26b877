// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_memory: the memory of a rank in KiB at three times: after MPI_Init and a barrier; after a
 * ring, in which each rank has contact with two others; after each rank has sent 8 bytes to all
 * others.
 *
 * Prints, for each time, the means over all ranks of /proc/self/smaps_rollup: resident (Rss),
 * proportional (Pss: shared pages are divided among their processes), and private (Private_Clean
 * and Private_Dirty); then the greatest Rss of any rank.
 *
 * Invariant: the memory of the measurement itself is allocated before the first time, and is the
 * same for every MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_RING = 1, TAG_ALL = 2 };
enum { RSS, PSS, PRIVATE, FIGURES };

static int rank, size;

static void fail(const char *sentence)
{
    fprintf(stderr, "weft_memory: rank %d: %s\n", rank, sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void look(double kib[FIGURES])
{
    char line[256];
    double value;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) {
        fail("cannot read /proc/self/smaps_rollup; it takes Linux 4.14");
        return;
    }
    kib[RSS] = kib[PSS] = kib[PRIVATE] = 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "Rss: %lf", &value) == 1)
            kib[RSS] = value;
        else if (sscanf(line, "Pss: %lf", &value) == 1)
            kib[PSS] = value;
        else if (sscanf(line, "Private_Clean: %lf", &value) == 1 ||
                 sscanf(line, "Private_Dirty: %lf", &value) == 1)
            kib[PRIVATE] += value;
    }
    fclose(f);
    if (!(kib[RSS] > 0))
        fail("found no line Rss in /proc/self/smaps_rollup");
}

/* All ranks measure before any continues, so that shared pages are counted while all ranks run. */
static void report(const char *moment)
{
    double mine[FIGURES], sum[FIGURES], greatest;
    MPI_Barrier(MPI_COMM_WORLD);
    look(mine);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(mine, sum, FIGURES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine[RSS], &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%-8s %10.0f %10.0f %10.0f %10.0f\n", moment, sum[RSS] / size, sum[PSS] / size,
               sum[PRIVATE] / size, greatest);
        fflush(stdout);
    }
}

static void ring(void)
{
    long token = rank, got = -1;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Sendrecv(&token, 1, MPI_LONG, next, TAG_RING, &got, 1, MPI_LONG, previous, TAG_RING,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != previous)
        fail("the ring brought another rank's token");
}

static void everyone(long *tokens, MPI_Request *requests)
{
    long mine = rank;
    for (int i = 0; i < size; i++)
        MPI_Irecv(&tokens[i], 1, MPI_LONG, i, TAG_ALL, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < size; i++)
        MPI_Isend(&mine, 1, MPI_LONG, i, TAG_ALL, MPI_COMM_WORLD, &requests[size + i]);
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++)
        if (tokens[i] != i)
            fail("another rank's token came");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long *tokens = calloc((size_t)size, sizeof *tokens);
    MPI_Request *requests = calloc(2 * (size_t)size, sizeof *requests);
    if (!tokens || !requests)
        fail("no memory for the requests");
    if (rank == 0)
        printf("# KiB per process, means over %d ranks\n%-8s %10s %10s %10s %10s\n", size,
               "# after", "resident", "proport.", "private", "greatest");
    report("init");
    ring();
    report("ring");
    everyone(tokens, requests);
    report("all");
    free(tokens);
    free(requests);
    return MPI_Finalize();
}
