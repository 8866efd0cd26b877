// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_pack: compares MPI_Pack and MPI_Unpack with a loop written by hand for the same data.
 *
 *     weft_pack [-m MIN[:MAX]] [-b BAR] [-s SECONDS] [-l LAYOUT]
 *
 * For each layout (whose name contains LAYOUT), number of packed bytes and direction, the two run
 * in turns, each for SECONDS. Prints the median over the turns of the ratio of their times, Weft's
 * over the loop's. "warm": the same data repeatedly; "cold": data and packed bytes are flushed from
 * the caches before. With -b every row above BAR in two measurements is named, and the exit status
 * is 1.
 */
#include "figures.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One layout at one size. The loops below read it. */
struct layout {
    const char *name;
    size_t n;      /* runs, rows or elements */
    size_t stride; /* doubles from one to the next */
    size_t packed, span;
    MPI_Datatype type;
    MPI_Count count; /* of the type */
    size_t *places;
};

struct particle {
    double position[3];
    int id;
    float weight; /* stays */
    double charge;
    char tag;
};

typedef void loop(const struct layout *l, char *data, char *packed);

/* ---- Loops by hand ---- */

static void pack_doubles(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)data;
    double *to = (double *)(void *)packed;
    for (size_t i = 0; i < l->n; i++)
        to[i] = from[i * l->stride];
}

static void unpack_doubles(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)packed;
    double *to = (double *)(void *)data;
    for (size_t i = 0; i < l->n; i++)
        to[i * l->stride] = from[i];
}

static void pack_threes(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)data;
    double *to = (double *)(void *)packed;
    for (size_t i = 0; i < l->n; i++)
        for (int k = 0; k < 3; k++)
            to[3 * i + (size_t)k] = from[i * l->stride + (size_t)k];
}

static void unpack_threes(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)packed;
    double *to = (double *)(void *)data;
    for (size_t i = 0; i < l->n; i++)
        for (int k = 0; k < 3; k++)
            to[i * l->stride + (size_t)k] = from[3 * i + (size_t)k];
}

enum { PACKED_PARTICLE = 3 * 8 + 4 + 8 + 1 };

static void pack_particles(const struct layout *l, char *data, char *packed)
{
    const struct particle *from = (const struct particle *)data;
    for (size_t i = 0; i < l->n; i++, packed += PACKED_PARTICLE) {
        memcpy(packed, from[i].position, 24);
        memcpy(packed + 24, &from[i].id, 4);
        memcpy(packed + 28, &from[i].charge, 8);
        packed[36] = from[i].tag;
    }
}

static void unpack_particles(const struct layout *l, char *data, char *packed)
{
    struct particle *to = (struct particle *)data;
    for (size_t i = 0; i < l->n; i++, packed += PACKED_PARTICLE) {
        memcpy(to[i].position, packed, 24);
        memcpy(&to[i].id, packed + 24, 4);
        memcpy(&to[i].charge, packed + 28, 8);
        to[i].tag = packed[36];
    }
}

/* The inner n^3 of an array of (n + 2)^3 doubles. */
static void pack_inner(const struct layout *l, char *data, char *packed)
{
    size_t n = l->n, all = n + 2;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= n; j++, packed += n * 8)
            memcpy(packed, data + ((i * all + j) * all + 1) * 8, n * 8);
}

static void unpack_inner(const struct layout *l, char *data, char *packed)
{
    size_t n = l->n, all = n + 2;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= n; j++, packed += n * 8)
            memcpy(data + ((i * all + j) * all + 1) * 8, packed, n * 8);
}

/* One face of it whose doubles all lie apart: n^2 of them, in rows of n. */
static void pack_face(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)data;
    double *to = (double *)(void *)packed;
    size_t n = l->n, all = n + 2;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= n; j++)
            *to++ = from[(i * all + j) * l->stride + 1];
}

static void unpack_face(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)packed;
    double *to = (double *)(void *)data;
    size_t n = l->n, all = n + 2;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= n; j++)
            to[(i * all + j) * l->stride + 1] = *from++;
}

static void pack_list(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)data;
    double *to = (double *)(void *)packed;
    for (size_t i = 0; i < l->n; i++)
        to[i] = from[l->places[i]];
}

static void unpack_list(const struct layout *l, char *data, char *packed)
{
    const double *from = (const double *)(const void *)packed;
    double *to = (double *)(void *)data;
    for (size_t i = 0; i < l->n; i++)
        to[l->places[i]] = from[i];
}

/* ---- The same as datatypes ---- */

static void make_vector(struct layout *l, size_t bytes, size_t stride, int length)
{
    l->n = bytes / (8 * (size_t)length);
    l->stride = stride;
    l->packed = l->n * 8 * (size_t)length;
    l->span = ((l->n - 1) * stride + (size_t)length) * 8;
    MPI_Type_vector_c((MPI_Count)l->n, length, (MPI_Count)stride, MPI_DOUBLE, &l->type);
    l->count = 1;
}

static void make_every_second(struct layout *l, size_t bytes)
{
    make_vector(l, bytes, 2, 1);
}

static void make_every_eighth(struct layout *l, size_t bytes)
{
    make_vector(l, bytes, 8, 1);
}

/* A column of a matrix with rows of 1,000 doubles. */
static void make_column(struct layout *l, size_t bytes)
{
    make_vector(l, bytes < 8 << 20 ? bytes : 8 << 20, 1000, 1);
}

/* As many elements of a type that is one double and says it is larger. */
static void make_resized(struct layout *l, size_t bytes)
{
    make_vector(l, bytes, 4, 1);
    MPI_Type_free(&l->type);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 32, &l->type);
    l->count = (MPI_Count)l->n;
}

static void make_threes(struct layout *l, size_t bytes)
{
    make_vector(l, bytes, 4, 3);
}

static void make_particles(struct layout *l, size_t bytes)
{
    int lengths[] = {3, 1, 1, 1};
    MPI_Aint places[] = {offsetof(struct particle, position), offsetof(struct particle, id),
                         offsetof(struct particle, charge), offsetof(struct particle, tag)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_CHAR};
    l->n = bytes / PACKED_PARTICLE;
    l->packed = l->n * PACKED_PARTICLE;
    l->span = l->n * sizeof(struct particle);
    MPI_Type_create_struct(4, lengths, places, types, &l->type);
    l->count = (MPI_Count)l->n;
}

static size_t root(size_t n, int power)
{
    size_t r = 1;
    while ((power == 3 ? (r + 1) * (r + 1) * (r + 1) : (r + 1) * (r + 1)) <= n)
        r++;
    return r;
}

static void make_inner(struct layout *l, size_t bytes)
{
    l->n = root(bytes / 8, 3);
    int n = (int)l->n, sizes[] = {n + 2, n + 2, n + 2}, taken[] = {n, n, n}, starts[] = {1, 1, 1};
    l->packed = l->n * l->n * l->n * 8;
    l->span = (l->n + 2) * (l->n + 2) * (l->n + 2) * 8;
    MPI_Type_create_subarray(3, sizes, taken, starts, MPI_ORDER_C, MPI_DOUBLE, &l->type);
    l->count = 1;
}

static void make_face(struct layout *l, size_t bytes)
{
    l->n = root((bytes < 8 << 20 ? bytes : 8 << 20) / 8, 2);
    l->stride = 10;
    int n = (int)l->n, sizes[] = {n + 2, n + 2, 10}, taken[] = {n, n, 1}, starts[] = {1, 1, 1};
    l->packed = l->n * l->n * 8;
    l->span = (l->n + 2) * (l->n + 2) * 10 * 8;
    MPI_Type_create_subarray(3, sizes, taken, starts, MPI_ORDER_C, MPI_DOUBLE, &l->type);
    l->count = 1;
}

/* Every second or third double. */
static void make_list(struct layout *l, size_t bytes)
{
    l->n = bytes / 8;
    l->places = malloc(l->n * sizeof *l->places);
    int *places = malloc(l->n * sizeof *places);
    if (!places || !l->places)
        abort();
    size_t at = 0;
    for (size_t i = 0; i < l->n; i++) {
        l->places[i] = at;
        places[i] = (int)at;
        at += 2 + (i * 2654435761U >> 7) % 2;
    }
    l->packed = l->n * 8;
    l->span = at * 8;
    MPI_Type_create_indexed_block((int)l->n, 1, places, MPI_DOUBLE, &l->type);
    l->count = 1;
    free(places);
}

static const struct {
    const char *name;
    void (*make)(struct layout *l, size_t bytes);
    loop *pack, *unpack;
} layouts[] = {
    {"vector, every 2nd double", make_every_second, pack_doubles, unpack_doubles},
    {"vector, every 8th double", make_every_eighth, pack_doubles, unpack_doubles},
    {"column of rows of 1000", make_column, pack_doubles, unpack_doubles},
    {"resized double", make_resized, pack_doubles, unpack_doubles},
    {"vector, 3 of 4 doubles", make_threes, pack_threes, unpack_threes},
    {"struct with holes", make_particles, pack_particles, unpack_particles},
    {"subarray, inside of cube", make_inner, pack_inner, unpack_inner},
    {"subarray, face of box", make_face, pack_face, unpack_face},
    {"indexed, irregular", make_list, pack_list, unpack_list},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* ---- Measuring ---- */

static void throw_out(const void *from, size_t bytes)
{
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_ia32_clflush((const char *)from + i);
    __builtin_ia32_mfence();
#else
    static char junk[64 << 20];
    (void)from, (void)bytes;
    for (size_t i = 0; i < sizeof junk; i += 64)
        junk[i]++;
#endif
}

static void by_mpi_pack(const struct layout *l, char *data, char *packed)
{
    MPI_Count position = 0;
    MPI_Pack_c(data, l->count, l->type, packed, (MPI_Count)l->packed, &position, MPI_COMM_SELF);
}

static void by_mpi_unpack(const struct layout *l, char *data, char *packed)
{
    MPI_Count position = 0;
    MPI_Unpack_c(packed, (MPI_Count)l->packed, &position, data, l->count, l->type, MPI_COMM_SELF);
}

/* Seconds that one side takes, run often enough for the clock. */
static double measure(loop *side, const struct layout *l, char *data, char *packed, bool cold)
{
    int times = cold || l->packed > 65536 ? 1 : (int)(131072 / l->packed);
    if (cold) {
        throw_out(data, l->span);
        throw_out(packed, l->packed);
    }
    double start = bench_seconds();
    for (int i = 0; i < times; i++) {
        side(l, data, packed);
        __asm__ volatile("" : : : "memory");
    }
    return (bench_seconds() - start) / times;
}

static double ratio(const struct layout *l, loop *hand, loop *mpi, char *data, char *packed,
                    bool cold, double seconds)
{
    enum { TURNS = 1001 };
    double ratios[TURNS], end = bench_seconds() + 2 * seconds;
    int turn = 0;
    for (; turn < TURNS && (turn < 5 || bench_seconds() < end); turn++) {
        /* each goes first every other time */
        double before = turn & 1 ? 0 : measure(hand, l, data, packed, cold);
        double ours = measure(mpi, l, data, packed, cold);
        ratios[turn] = ours / (turn & 1 ? measure(hand, l, data, packed, cold) : before);
    }
    return bench_median(ratios, turn);
}

/* The loop and MPI must do the same. */
static void compare(const struct layout *l, int i, char *data, char *packed)
{
    char *other = malloc(l->packed);
    if (!other)
        abort();
    for (size_t k = 0; k < l->span; k++)
        data[k] = (char)(k * 7 + k / 251);
    layouts[i].pack(l, data, packed);
    by_mpi_pack(l, data, other);
    if (memcmp(packed, other, l->packed) != 0) {
        fprintf(stderr, "weft_pack: %s: MPI_Pack and the loop do not agree\n", layouts[i].name);
        exit(1);
    }
    free(other);
}

struct options {
    size_t least, most;
    double bar, seconds;
    const char *layout; /* a part of the names of those wanted */
};

/* One row; returns how many of its figures are above the bar. */
static int one(int i, size_t bytes, const struct options *options)
{
    struct layout l = {.name = layouts[i].name};
    layouts[i].make(&l, bytes);
    MPI_Type_commit(&l.type);
    char *data = aligned_alloc(64, (l.span + 63) / 64 * 64);
    char *packed = aligned_alloc(64, (l.packed + 63) / 64 * 64);
    if (!data || !packed) {
        fprintf(stderr, "weft_pack: no memory for %zu bytes; lower -m\n", l.span);
        exit(1);
    }
    compare(&l, i, data, packed);
    static const char *const columns[] = {"packing", "unpacking", "packing, cold",
                                          "unpacking, cold"};
    double ratios[4];
    int above = 0;
    printf("%-26s %10zu", l.name, l.packed);
    for (int column = 0; column < 4; column++) {
        bool unpack = column & 1, cold = column >= 2;
        loop *hand = unpack ? layouts[i].unpack : layouts[i].pack;
        loop *mpi = unpack ? by_mpi_unpack : by_mpi_pack;
        double r = ratio(&l, hand, mpi, data, packed, cold, options->seconds);
        if (options->bar > 0 && r > options->bar) { /* was that the machine? */
            double again = ratio(&l, hand, mpi, data, packed, cold, 4 * options->seconds);
            r = again < r ? again : r;
        }
        ratios[column] = r;
        printf(" %12.2f", r);
        fflush(stdout);
    }
    printf("\n");
    for (int column = 0; options->bar > 0 && column < 4; column++)
        if (ratios[column] > options->bar) {
            above++;
            fflush(stdout);
            fprintf(stderr, "weft_pack: %s, %zu bytes, %s: %.2f times the loop, above %.2f\n",
                    l.name, l.packed, columns[column], ratios[column], options->bar);
        }
    MPI_Type_free(&l.type);
    free(l.places);
    free(data);
    free(packed);
    return above;
}

static bool parse(struct options *options, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "m:b:s:l:")) != -1) {
        char *rest;
        if (option == 'm') {
            options->least = strtoull(optarg, &rest, 10);
            options->most = *rest == ':' ? strtoull(rest + 1, NULL, 10) : options->least;
        } else if (option == 'b') {
            options->bar = atof(optarg);
        } else if (option == 'l') {
            options->layout = optarg;
        } else if (option == 's') {
            options->seconds = atof(optarg);
        } else {
            return false;
        }
    }
    return optind == argc && options->least >= 64 && options->most >= options->least;
}

int main(int argc, char **argv)
{
    struct options options = {1 << 10, 64 << 20, 0, 0.02, ""};
    int above = 0;
    MPI_Init(&argc, &argv);
    if (!parse(&options, argc, argv)) {
        fprintf(stderr, "usage: weft_pack [-m MIN[:MAX]] [-b BAR] [-s SECONDS] [-l LAYOUT]; MIN is "
                        "at least 64\n");
        MPI_Finalize();
        return 2;
    }
    printf("# time of MPI over that of the loop\n%-26s %10s %12s %12s %12s %12s\n", "# layout",
           "bytes", "pack", "unpack", "pack cold", "unpack cold");
    for (int i = 0; i < LAYOUTS; i++)
        for (size_t bytes = options.least; bytes <= options.most; bytes *= 8) {
            if (!strstr(layouts[i].name, options.layout))
                continue;
            above += one(i, bytes, &options);
        }
    MPI_Finalize();
    return above > 0;
}
