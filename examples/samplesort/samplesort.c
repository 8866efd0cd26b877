// SPDX-License-Identifier: BSD-3-Clause
/*
 * samplesort: sorts keys that are spread over all ranks.
 *
 * Every rank sorts what it has and shows a few samples; from all samples come the borders between
 * the ranks; MPI_Alltoall tells how many keys go where, MPI_Alltoallv brings them there, and every
 * rank sorts what it got.
 *
 * Invariant: rank r ends up with the keys k such that border[r - 1] <= k < border[r]. The sorted
 * sequence, and so its checksum, is the same on any number of ranks; how it is divided is not.
 */
#include "../options.h"

#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct setup {
    int keys;   /* in all */
    int values; /* how many different ones there may be; 0: any */
};

struct list {
    uint64_t *key;
    int count;
};

/* An array of at least one element, so that NULL always means that there is no memory. */
static void *room(int count, size_t size)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory) {
        fprintf(stderr, "samplesort: no memory for %d elements; start more ranks\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    return memory;
}

/* Mixes 64 bits well. */
static uint64_t scramble(uint64_t n)
{
    n += 0x9e3779b97f4a7c15;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
    n = (n ^ n >> 27) * 0x94d049bb133111eb;
    return n ^ n >> 31;
}

/* This rank's share of the keys; key number i of all is the same on any number of ranks. */
static struct list make_keys(const struct setup *s, int rank, int ranks)
{
    int64_t first = (int64_t)s->keys * rank / ranks, end = (int64_t)s->keys * (rank + 1) / ranks;
    struct list l = {.count = (int)(end - first)};
    l.key = room(l.count, sizeof *l.key);
    for (int i = 0; i < l.count; i++) {
        uint64_t key = scramble((uint64_t)(first + i));
        l.key[i] = s->values ? key % (unsigned)s->values : key;
    }
    return l;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort(struct list l)
{
    qsort(l.key, (size_t)l.count, sizeof *l.key, compare);
}

/* The ranks - 1 borders between the ranks, from as many samples of every rank's sorted keys as
 * there are ranks. A rank without keys shows the largest number there is. */
static uint64_t *find_borders(struct list sorted, int ranks)
{
    uint64_t *mine = room(ranks, sizeof *mine);
    struct list all = {.count = ranks * ranks};
    all.key = room(all.count, sizeof *all.key);
    for (int i = 0; i < ranks; i++)
        mine[i] = sorted.count ? sorted.key[(int64_t)sorted.count * i / ranks] : UINT64_MAX;
    MPI_Allgather(mine, ranks, MPI_UINT64_T, all.key, ranks, MPI_UINT64_T, MPI_COMM_WORLD);
    sort(all);
    for (int i = 1; i < ranks; i++)
        mine[i - 1] = all.key[i * ranks];
    free(all.key);
    return mine;
}

/* How many of the sorted keys go to each rank. */
static void count_keys(struct list sorted, const uint64_t *border, int ranks, int *counts)
{
    int begin = 0;
    for (int r = 0; r < ranks; r++) {
        int end = r == ranks - 1 ? sorted.count : begin;
        while (end < sorted.count && sorted.key[end] < border[r])
            end++;
        counts[r] = end - begin;
        begin = end;
    }
}

/* Where each part begins when they lie one after the other. Returns the sum. */
static int add_up(const int *counts, int *begins, int ranks)
{
    int sum = 0;
    for (int r = 0; r < ranks; r++) {
        begins[r] = sum;
        sum += counts[r];
    }
    return sum;
}

/* Brings every key to the rank it belongs to. */
static struct list exchange(struct list sorted, const uint64_t *border, int ranks)
{
    int *sent = room(4 * ranks, sizeof *sent), *sent_begin = sent + ranks;
    int *received = sent + 2 * ranks, *received_begin = sent + 3 * ranks;
    struct list mine;
    count_keys(sorted, border, ranks, sent);
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    add_up(sent, sent_begin, ranks);
    mine.count = add_up(received, received_begin, ranks);
    mine.key = room(mine.count, sizeof *mine.key);
    MPI_Alltoallv(sorted.key, sent, sent_begin, MPI_UINT64_T, mine.key, received, received_begin,
                  MPI_UINT64_T, MPI_COMM_WORLD);
    free(sent);
    return mine;
}

static struct list sample_sort(struct list keys, int ranks)
{
    sort(keys);
    uint64_t *border = find_borders(keys, ranks);
    struct list mine = exchange(keys, border, ranks);
    sort(mine);
    free(border);
    return mine;
}

/* A sum over the keys that does not depend on their order: that none was lost or changed. */
static uint64_t fingerprint(struct list l)
{
    uint64_t sum = 0;
    for (int i = 0; i < l.count; i++)
        sum += scramble(l.key[i]);
    return sum;
}

/* Whether the keys rise, here and from all lower ranks to here. */
static bool in_order(struct list l, int rank)
{
    uint64_t highest = l.count ? l.key[l.count - 1] : 0, before = 0;
    MPI_Exscan(&highest, &before, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    bool good = rank == 0 || !l.count || before <= l.key[0];
    for (int i = 1; i < l.count; i++)
        good = good && l.key[i - 1] <= l.key[i];
    return good;
}

/* A sum over keys and their places in the whole sequence. */
static uint64_t checksum(struct list l, int rank)
{
    int64_t count = l.count, before = 0;
    uint64_t sum = 0;
    MPI_Exscan(&count, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        before = 0; /* MPI_Exscan leaves rank 0 without a value */
    for (int i = 0; i < l.count; i++)
        sum += scramble(l.key[i] ^ scramble((uint64_t)(before + i)));
    return sum;
}

/* Compares what came out with what went in. Returns the exit code, on all ranks. */
static int conclude(const struct setup *s, struct list mine, uint64_t fingerprint_before, int rank)
{
    /* Sums that have to be added up: keys, the fingerprint's change, the checksum, ranks that are
     * not in order. */
    uint64_t sums[4] = {(uint64_t)mine.count, fingerprint(mine) - fingerprint_before,
                        checksum(mine, rank), !in_order(mine, rank)};
    int most;
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&mine.count, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    bool complete = sums[0] == (uint64_t)s->keys && sums[1] == 0, ordered = sums[3] == 0;
    if (rank == 0)
        printf("at most %d keys on a rank; checksum %016" PRIx64 "\n"
               "check: the keys %s and %s\n",
               most, sums[2], complete ? "are all there" : "have CHANGED",
               ordered ? "in order" : "NOT IN ORDER");
    return complete && ordered ? 0 : 1;
}

/* Reads the command line: OPTIONS_RUN, or the exit code. */
static int parse(struct setup *s, int rank, int argc, char **argv)
{
    *s = (struct setup){.keys = 100000};
    const struct options_row rows[] = {
        {'n', "keys", "a number of keys, 0 to 2147483647", .number = &s->keys, .most = INT_MAX},
        {'d', "values", "a number of values, 1 to 2147483647", .number = &s->values, .least = 1,
         .most = INT_MAX},
        {0},
    };
    const struct options options = {
        .program = "samplesort",
        .usage = "usage: samplesort [options]\n"
                 "Sorts keys that are spread over all ranks.\n"
                 "  -n, --keys N     how many in all (100000)\n"
                 "  -d, --values N   how many different values, 1 or more (any)\n"
                 "  -h, --help       this text\n",
        .rows = rows,
    };
    return options_read(&options, rank, argc, argv);
}

static int run(const struct setup *s, int rank, int ranks)
{
    struct list keys = make_keys(s, rank, ranks);
    uint64_t before = fingerprint(keys);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    struct list mine = sample_sort(keys, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    if (rank == 0)
        printf("%d keys, %d ranks: %.3f s\n", s->keys, ranks, seconds);
    int code = conclude(s, mine, before, rank);
    free(keys.key);
    free(mine.key);
    return code;
}

int main(int argc, char **argv)
{
    struct setup s;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int code = parse(&s, rank, argc, argv);
    if (code == OPTIONS_RUN)
        code = run(&s, rank, ranks);
    MPI_Finalize();
    return code;
}
