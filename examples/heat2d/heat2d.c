// SPDX-License-Identifier: BSD-3-Clause
/*
 * heat2d: the two-dimensional heat equation on an insulated plate, from a picture.
 *
 * The plate is divided into one block a rank. In each step a rank sends the edges of its block to
 * its neighbours, computes the inner cells while they travel, then the outer ones. Rank 0 reads and
 * writes pictures and speaks for all.
 *
 * Invariant: the field after n steps is the same to the last bit on any number of ranks.
 */
#include "checkpoint.h"
#include "grid.h"
#include "halo.h"
#include "picture.h"
#include "plate.h"
#include "setup.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct setup setup;
    int rank, ranks;
    int max; /* grey value of white */
    struct layout layout;
    struct block block;
    struct halo halo;
    double *plate;   /* rank 0: the whole field, as last gathered */
    double *initial; /* rank 0, with --check: where the serial run starts */
};

static _Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the whole job with a sentence. */
static _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("heat2d: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void no_memory(const struct run *r)
{
    give_up("rank %d has no memory for its part of %d x %d cells; use more machines or a smaller "
            "picture",
            r->rank, r->layout.width, r->layout.height);
}

static size_t cells(const struct run *r)
{
    return (size_t)r->layout.width * (size_t)r->layout.height;
}

/* Rank 0: reads the picture into plate; size[] becomes width, height, maximum. */
static void read_plate(struct run *r, int size[3])
{
    struct picture p;
    char why[512];
    if (!picture_read(&p, r->setup.picture, why, sizeof why))
        give_up("%s", why);
    size_t n = (size_t)p.width * (size_t)p.height;
    r->plate = malloc(n * sizeof *r->plate);
    if (!r->plate)
        give_up("no memory for a plate of %d x %d cells", p.width, p.height);
    for (size_t i = 0; i < n; i++)
        r->plate[i] = p.values[i];
    size[0] = p.width;
    size[1] = p.height;
    size[2] = p.max;
    picture_free(&p);
}

/* All ranks read their blocks from the checkpoint, then rank 0 gathers them. */
static void read_checkpoint(struct run *r)
{
    char why[1024];
    if (!checkpoint_read(r->setup.start, &r->layout, &r->block, why, sizeof why))
        give_up("%s", why);
    r->plate = r->rank == 0 ? malloc(cells(r) * sizeof *r->plate) : NULL;
    if ((r->rank == 0 && !r->plate) || !plate_gather(&r->layout, r->rank, r->plate, &r->block))
        no_memory(r);
}

/* Rank 0 keeps the initial field for --check. */
static void keep_initial(struct run *r)
{
    if (r->rank != 0 || !r->setup.check)
        return;
    r->initial = malloc(cells(r) * sizeof *r->initial);
    if (!r->initial)
        give_up("no memory to keep the initial field; run without --check");
    memcpy(r->initial, r->plate, cells(r) * sizeof *r->plate);
}

static void distribute(struct run *r)
{
    int size[3];
    char why[1024];
    struct span x, y;
    if (r->setup.start && !checkpoint_sizes(r->setup.start, size, why, sizeof why))
        give_up("%s", why);
    if (!r->setup.start && r->rank == 0)
        read_plate(r, size);
    MPI_Bcast(size, 3, MPI_INT, 0, MPI_COMM_WORLD);
    r->max = size[2];
    if (!layout_divide(&r->layout, size[0], size[1], r->ranks)) {
        if (r->rank == 0)
            give_up("%d x %d cells cannot be divided among %d ranks; start fewer, or a number that "
                    "has factors at most as large as the sides",
                    size[0], size[1], r->ranks);
        MPI_Barrier(MPI_COMM_WORLD); /* rank 0 ends the job meanwhile */
    }
    layout_spans(&r->layout, r->rank, &x, &y);
    if (!block_create(&r->block, x, y) || !halo_create(&r->halo, &r->layout, r->rank, &r->block))
        no_memory(r);
    if (r->setup.start)
        read_checkpoint(r);
    else if (!plate_scatter(&r->layout, r->rank, r->plate, &r->block))
        no_memory(r);
    keep_initial(r);
    if (r->rank == 0)
        printf("%s: %d x %d cells, %d x %d blocks, %d steps at rate %g\n",
               r->setup.start ? r->setup.start : r->setup.picture, size[0], size[1],
               r->layout.columns, r->layout.rows, r->setup.steps, r->setup.rate);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* One step. The inner cells need nothing from the neighbours; a block of one row or column has
 * none of them. Returns the largest change in this block. */
static double step(struct run *r)
{
    struct block *b = &r->block;
    int w = b->x.count, h = b->y.count;
    double rate = r->setup.rate, change;

    halo_start(&r->halo, b);
    change = block_step(b, rate, 1, w - 1, 1, h - 1);
    halo_finish(&r->halo, b);
    change = larger(change, block_step(b, rate, 0, w, 0, 1));
    if (h > 1)
        change = larger(change, block_step(b, rate, 0, w, h - 1, h));
    change = larger(change, block_step(b, rate, 0, 1, 1, h - 1));
    if (w > 1)
        change = larger(change, block_step(b, rate, w - 1, w, 1, h - 1));
    block_swap(b);
    return change;
}

static void gather(struct run *r)
{
    if (!plate_gather(&r->layout, r->rank, r->plate, &r->block))
        no_memory(r);
}

/* Rank 0: writes the gathered plate as a picture. */
static void write_frame(const struct run *r, int number)
{
    struct picture p = {.width = r->layout.width, .height = r->layout.height, .max = r->max};
    char path[512], why[640];
    size_t n = cells(r);
    p.values = malloc(n * sizeof *p.values);
    if (!p.values)
        give_up("no memory for a frame of %d x %d values", p.width, p.height);
    for (size_t i = 0; i < n; i++) {
        /* Rounding may carry a value a hair beyond the ends of the scale. */
        double value = r->plate[i] < 0 ? 0 : r->plate[i] > r->max ? r->max : r->plate[i];
        p.values[i] = (uint16_t)(value + 0.5);
    }
    snprintf(path, sizeof path, "%s-%06d.%s", r->setup.prefix, number,
             r->setup.png ? "png" : "pgm");
    bool good = r->setup.png ? picture_write_png(&p, path, why, sizeof why)
                             : picture_write_pgm(&p, path, why, sizeof why);
    if (!good)
        give_up("%s", why);
    picture_free(&p);
}

static void report(const struct run *r, int number, double change)
{
    double largest = 0;
    MPI_Reduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (r->rank == 0) {
        printf("step %6d  largest change %.6g\n", number, largest);
        fflush(stdout);
    }
}

static void solve(struct run *r)
{
    const struct setup *s = &r->setup;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int n = 1; n <= s->steps; n++) {
        double change = step(r);
        if (n % s->report_every == 0)
            report(r, n, change);
        if (s->frame_every && n % s->frame_every == 0 && n < s->steps) {
            gather(r);
            if (r->rank == 0)
                write_frame(r, n);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    gather(r);
    if (r->rank == 0 && s->prefix)
        write_frame(r, s->steps);
    if (r->rank == 0)
        printf("%d ranks: %.3f s, %.1f million cells a second\n", r->ranks, seconds,
               (double)cells(r) * s->steps / seconds / 1e6);
}

static void save(const struct run *r)
{
    char why[1024];
    if (r->setup.save &&
        !checkpoint_write(r->setup.save, &r->layout, &r->block, r->max, why, sizeof why))
        give_up("%s", why);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rank 0: the same number of steps on one block that is the whole plate, by no message at all.
 * Returns whether the result has the same bits as the gathered plate. */
static bool serial_agrees(const struct run *r)
{
    struct span x = {0, r->layout.width}, y = {0, r->layout.height};
    size_t row = (size_t)x.count;
    struct block b;
    if (!block_create(&b, x, y))
        give_up("no memory for the serial run; run without --check");
    for (int i = 0; i < y.count; i++)
        memcpy(block_cell(&b, 0, i), r->initial + (size_t)i * row, row * sizeof(double));
    for (int n = 0; n < r->setup.steps; n++) {
        block_mirror(&b, -1, 0);
        block_mirror(&b, 1, 0);
        block_mirror(&b, 0, -1);
        block_mirror(&b, 0, 1);
        block_step(&b, r->setup.rate, 0, x.count, 0, y.count);
        block_swap(&b);
    }
    int differ = 0;
    for (int i = 0; i < y.count && !differ; i++)
        for (int j = 0; j < x.count && !differ; j++) {
            double here = r->plate[(size_t)i * row + (size_t)j], serially = *block_cell(&b, j, i);
            if (bits_of(here) == bits_of(serially))
                continue;
            differ = 1;
            printf("check: row %d column %d is %.17g, serially %.17g\n", i, j, here, serially);
        }
    block_free(&b);
    return !differ;
}

/* Rank 0: prints the result. Returns the exit code. */
static int conclude(const struct run *r)
{
    double sum = 0, low = r->plate[0], high = low;
    for (size_t i = 0; i < cells(r); i++) {
        sum += r->plate[i];
        low = r->plate[i] < low ? r->plate[i] : low;
        high = larger(high, r->plate[i]);
    }
    printf("lowest %.6f  mean %.6f  highest %.6f\n", low, sum / (double)cells(r), high);
    printf("checksum %016" PRIx64 "\n", plate_checksum(r->plate, cells(r)));
    if (!r->setup.check)
        return 0;
    bool good = serial_agrees(r);
    printf("check: %s\n",
           good ? "the serial result is the same to the last bit" : "the serial result DIFFERS");
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct run r;
    memset(&r, 0, sizeof r);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
    int code = setup_read(&r.setup, r.rank, argc, argv);
    if (code < 0) {
        distribute(&r);
        solve(&r);
        save(&r);
        if (r.rank == 0)
            code = conclude(&r);
        MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
        halo_free(&r.halo);
        block_free(&r.block);
        free(r.plate);
        free(r.initial);
    }
    MPI_Finalize();
    return code;
}
