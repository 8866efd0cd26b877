// SPDX-License-Identifier: BSD-3-Clause
/*
 * nbody: bodies that attract one another, every pair of them, on a ring of ranks.
 *
 * Each rank owns a block of bodies. In each step a copy of every block travels once around the
 * ring by MPI_Sendrecv_replace, and every rank adds up what the passing bodies do to its own.
 *
 * Invariant: the result is the same to the last bit on any number of ranks. The forces are added
 * up as whole multiples of a small unit: unlike a sum of floating point numbers, such a sum does
 * not depend on the order, which here differs from rank to rank.
 */
#include "../options.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What travels. A body of mass 0 does nothing to others: blocks are filled up with them, because
 * MPI_Sendrecv_replace receives as many as it sends. */
struct body {
    double position[3], mass;
};

struct block {
    int first, count;  /* owns bodies [first, first + count) of all */
    int capacity;      /* the room in each block, the same on all ranks */
    struct body *body; /* capacity each */
    double (*velocity)[3];
    int64_t (*force)[3]; /* in units of 1 / FORCE_SCALE */
};

struct setup {
    int bodies, steps;
    bool quick; /* no serial run */
};

static const double FORCE_SCALE = 0x1p50; /* forces stay below 2^13: see pull() */
static const double SOFTENING = 0.05;     /* keeps close encounters finite */
static const double TIME_STEP = 0.01;

static _Noreturn void no_memory(int rank)
{
    fprintf(stderr, "nbody: rank %d has no memory for its bodies; start more ranks\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* A number in [0, 1) that depends on n alone, so every rank can make up its own bodies. */
static double scatter(uint64_t n)
{
    n += 0x9e3779b97f4a7c15;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
    n = (n ^ n >> 27) * 0x94d049bb133111eb;
    return (double)((n ^ n >> 31) >> 11) * 0x1p-53;
}

static struct block block_create(int rank, int ranks, int bodies)
{
    struct block b = {.capacity = bodies / ranks + (bodies % ranks != 0)};
    int64_t first = (int64_t)rank * b.capacity;
    b.first = first < bodies ? (int)first : bodies;
    b.count = bodies - b.first < b.capacity ? bodies - b.first : b.capacity;
    b.body = calloc((size_t)b.capacity, sizeof *b.body);
    b.velocity = calloc((size_t)b.capacity, sizeof *b.velocity);
    b.force = calloc((size_t)b.capacity, sizeof *b.force);
    if (!b.body || !b.velocity || !b.force)
        no_memory(rank);
    for (int i = 0; i < b.count; i++) {
        uint64_t n = (uint64_t)(b.first + i) * 8;
        for (unsigned k = 0; k < 3; k++) {
            b.body[i].position[k] = 2 * scatter(n + k) - 1;
            b.velocity[i][k] = 0.2 * scatter(n + 3 + k) - 0.1;
        }
        b.body[i].mass = (0.5 + scatter(n + 6)) / bodies; /* about 1 in all */
    }
    return b;
}

static void block_free(struct block *b)
{
    free(b->body);
    free(b->velocity);
    free(b->force);
}

/* Adds what the visitors do to the own bodies. What i does to j is what j does to i with the other
 * sign, to the last bit. A sum stays within an int64_t: one pair's force is at most 0.385 m m' /
 * SOFTENING^2 = 154 m m', the masses are below 1.5 and their sum is, too. */
static void pull(struct block *b, const struct body *visitors)
{
    for (int i = 0; i < b->count; i++) {
        const struct body *me = &b->body[i];
        for (int j = 0; j < b->capacity; j++) {
            double d[3], square = SOFTENING * SOFTENING;
            for (int k = 0; k < 3; k++) {
                d[k] = visitors[j].position[k] - me->position[k];
                square += d[k] * d[k];
            }
            double strength = me->mass * visitors[j].mass / (square * sqrt(square));
            for (int k = 0; k < 3; k++)
                b->force[i][k] += llrint(strength * d[k] * FORCE_SCALE);
        }
    }
}

/* All forces on the own bodies: every block comes by once, the own one first. */
static void add_forces(struct block *b, struct body *travelling, MPI_Datatype type, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    memset(b->force, 0, (size_t)b->capacity * sizeof *b->force);
    memcpy(travelling, b->body, (size_t)b->capacity * sizeof *travelling);
    pull(b, travelling);
    for (int hop = 1; hop < ranks; hop++) {
        MPI_Sendrecv_replace(travelling, b->capacity, type, (rank + 1) % ranks, 0,
                             (rank + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);
        pull(b, travelling);
    }
}

static void push(struct block *b, double seconds)
{
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            b->velocity[i][k] += seconds * ((double)b->force[i][k] / FORCE_SCALE / b->body[i].mass);
}

static void drift(struct block *b)
{
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            b->body[i].position[k] += TIME_STEP * b->velocity[i][k];
}

/* Steps of the leapfrog method: half a push, a drift, half a push. Returns whether at every step
 * the forces of all bodies added up to exactly nothing, as Newton's third law says; on all ranks.
 */
static bool simulate(struct block *b, int steps, MPI_Comm comm)
{
    bool balanced = true;
    MPI_Datatype type;
    struct body *travelling = calloc((size_t)b->capacity, sizeof *travelling);
    if (!travelling)
        no_memory(-1);
    MPI_Type_contiguous(4, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    add_forces(b, travelling, type, comm);
    for (int n = 0; n < steps; n++) {
        int64_t sum[3] = {0, 0, 0};
        push(b, TIME_STEP / 2);
        drift(b);
        add_forces(b, travelling, type, comm);
        push(b, TIME_STEP / 2);
        for (int i = 0; i < b->count; i++)
            for (int k = 0; k < 3; k++)
                sum[k] += b->force[i][k];
        MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_INT64_T, MPI_SUM, comm);
        balanced = balanced && !sum[0] && !sum[1] && !sum[2];
    }
    MPI_Type_free(&type);
    free(travelling);
    return balanced;
}

/* Kinetic and potential energy of a block that holds all bodies. */
static double energy(const struct block *all)
{
    double sum = 0;
    for (int i = 0; i < all->count; i++) {
        const struct body *a = &all->body[i];
        for (int k = 0; k < 3; k++)
            sum += 0.5 * a->mass * all->velocity[i][k] * all->velocity[i][k];
        for (int j = 0; j < i; j++) {
            const struct body *b = &all->body[j];
            double square = SOFTENING * SOFTENING;
            for (int k = 0; k < 3; k++)
                square += (a->position[k] - b->position[k]) * (a->position[k] - b->position[k]);
            sum -= a->mass * b->mass / sqrt(square);
        }
    }
    return sum;
}

/* FNV-1a over the bits of n values, lowest byte first: the same on every machine. */
static uint64_t checksum(uint64_t sum, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int shift = 0; shift < 64; shift += 8)
            sum = (sum ^ (bits >> shift & 0xff)) * 0x100000001b3;
    }
    return sum;
}

/* Collects all blocks on rank 0: what is returned there holds all bodies, elsewhere nothing. */
static struct block gather(const struct block *b, int rank, int ranks)
{
    struct block all = {.count = 0};
    if (rank == 0) {
        size_t room = (size_t)b->capacity * (size_t)ranks;
        all.body = calloc(room, sizeof *all.body);
        all.velocity = calloc(room, sizeof *all.velocity);
        if (!all.body || !all.velocity)
            no_memory(rank);
    }
    MPI_Gather(b->body, 4 * b->capacity, MPI_DOUBLE, all.body, 4 * b->capacity, MPI_DOUBLE, 0,
               MPI_COMM_WORLD);
    MPI_Gather(b->velocity, 3 * b->capacity, MPI_DOUBLE, all.velocity, 3 * b->capacity, MPI_DOUBLE,
               0, MPI_COMM_WORLD);
    return all;
}

/* Rank 0: judges the result. The serial run is the same program on one rank, by no message at all.
 * Returns the exit code. */
static int conclude(const struct setup *s, struct block *all, bool balanced)
{
    size_t n = (size_t)s->bodies;
    struct block serial = block_create(0, 1, s->bodies);
    double before = energy(&serial), after;
    bool same = true;
    all->count = s->bodies;
    after = energy(all);
    uint64_t sum = checksum(0xcbf29ce484222325, all->body->position, 4 * n);
    sum = checksum(sum, all->velocity[0], 3 * n);
    printf("energy %.9f, %.9f at first; checksum %016" PRIx64 "\n", after, before, sum);
    if (!s->quick) {
        simulate(&serial, s->steps, MPI_COMM_SELF);
        same = !memcmp(serial.body, all->body, n * sizeof *serial.body) &&
               !memcmp(serial.velocity, all->velocity, n * sizeof *serial.velocity);
    }
    bool kept = fabs(after - before) <= 1e-3 * fabs(before);
    block_free(&serial);
    printf("check: forces %s, energy %s, %s\n", balanced ? "balance" : "do NOT BALANCE",
           kept ? "is kept" : "is NOT KEPT",
           s->quick ? "no serial run"
           : same   ? "the serial result is the same to the last bit"
                    : "the serial result DIFFERS");
    return balanced && kept && same ? 0 : 1;
}

/* Reads the command line: OPTIONS_RUN, or the exit code. */
static int parse(struct setup *s, int rank, int argc, char **argv)
{
    *s = (struct setup){.bodies = 300, .steps = 20};
    const struct options_row rows[] = {
        {'n', "bodies", "a number of bodies, 1 to 100000", .number = &s->bodies, .least = 1,
         .most = 100000},
        {'s', "steps", "a number of steps, 0 to 1000000000", .number = &s->steps,
         .most = 1000000000},
        {'q', "quick", .flag = &s->quick},
        {0},
    };
    const struct options options = {
        .program = "nbody",
        .usage = "usage: nbody [options]\n"
                 "Moves bodies that attract one another; copies of them travel around a ring of "
                 "ranks.\n"
                 "  -n, --bodies N   how many (300)\n"
                 "  -s, --steps N    time steps (20)\n"
                 "  -q, --quick      without the comparison with a serial run on rank 0\n"
                 "  -h, --help       this text\n",
        .rows = rows,
    };
    return options_read(&options, rank, argc, argv);
}

static int run(const struct setup *s, int rank, int ranks)
{
    int code = 0;
    struct block mine = block_create(rank, ranks, s->bodies);
    double start = MPI_Wtime();
    bool balanced = simulate(&mine, s->steps, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    struct block all = gather(&mine, rank, ranks);
    if (rank == 0) {
        printf("%d bodies, %d steps, %d ranks: %.3f s\n", s->bodies, s->steps, ranks, seconds);
        code = conclude(s, &all, balanced);
    }
    block_free(&all);
    block_free(&mine);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
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
