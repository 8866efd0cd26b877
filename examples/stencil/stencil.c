// SPDX-License-Identifier: BSD-3-Clause
/*
 * stencil: heat in a ring-shaped bar, in three dimensions, on a Cartesian grid of ranks.
 *
 * The bar is closed along its first axis (periodic), and its other surfaces are kept at 0. Each
 * rank has a box of points with a shell of one point around it. Before a step one call,
 * MPI_Neighbor_alltoallw, brings the faces of the six neighbours into the shell; subarray types say
 * where faces and shell lie, so nothing is packed by hand.
 *
 * Invariant: the field after n steps is the same to the last bit on any number of ranks: each new
 * value is computed from seven old ones by one expression.
 */
#include "../options.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, SIDES = 2 * DIMS };

struct setup {
    int points[DIMS], steps;
    bool quick; /* no serial run */
};

/* Part of the grid: points first[d] to first[d] + count[d] - 1 of dimension d. */
struct box {
    int first[DIMS], count[DIMS];
};

/* One rank's box with its shell, before and after a step. */
struct field {
    struct box box;
    double *old, *new;
};

/* The arguments of MPI_Neighbor_alltoallw. The neighbours of a Cartesian communicator come in this
 * order: in each dimension first the lower one, then the higher one. */
struct exchange {
    MPI_Datatype face[SIDES], shell[SIDES];
    int counts[SIDES];
    MPI_Aint begins[SIDES];
};

static _Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the whole job with a sentence. */
static _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("stencil: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static double *room(size_t count)
{
    double *memory = calloc(count, sizeof *memory);
    if (!memory)
        give_up("no memory for %zu points; start more ranks", count);
    return memory;
}

/* ---- Who has which points */

static struct box box_of(const struct setup *s, MPI_Comm cart, int rank)
{
    int dims[DIMS], periods[DIMS], coords[DIMS];
    struct box b;
    MPI_Cart_get(cart, DIMS, dims, periods, coords); /* dims is what matters here */
    MPI_Cart_coords(cart, rank, DIMS, coords);
    for (int d = 0; d < DIMS; d++) {
        b.first[d] = (int)((int64_t)s->points[d] * coords[d] / dims[d]);
        b.count[d] = (int)((int64_t)s->points[d] * (coords[d] + 1) / dims[d]) - b.first[d];
    }
    return b;
}

/* Where point x, y, z of a box lies in its array; -1 and count address the shell. */
static size_t at(const struct box *b, int x, int y, int z)
{
    size_t row = (size_t)(x + 1) * (size_t)(b->count[1] + 2) + (size_t)(y + 1);
    return row * (size_t)(b->count[2] + 2) + (size_t)(z + 1);
}

/* The temperature at first, different everywhere: between 0 and 1, from the place alone. */
static double initial(const struct setup *s, int x, int y, int z)
{
    uint64_t n = ((uint64_t)x * (uint64_t)s->points[1] + (uint64_t)y) * (uint64_t)s->points[2];
    n = (n + (uint64_t)z + 1) * 0x9e3779b97f4a7c15;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
    return (double)((n ^ n >> 27) >> 11) * 0x1p-53;
}

static struct field field_create(const struct setup *s, struct box b)
{
    size_t all = (size_t)(b.count[0] + 2) * (size_t)(b.count[1] + 2) * (size_t)(b.count[2] + 2);
    struct field f = {b, room(all), room(all)};
    for (int x = 0; x < b.count[0]; x++)
        for (int y = 0; y < b.count[1]; y++)
            for (int z = 0; z < b.count[2]; z++)
                f.old[at(&b, x, y, z)] = initial(s, b.first[0] + x, b.first[1] + y, b.first[2] + z);
    return f;
}

static void field_free(struct field *f)
{
    free(f->old);
    free(f->new);
}

/* ---- A step */

/* A type for a part of the array of a box. Invariant: starts count from the shell's first point. */
static MPI_Datatype part(const struct box *b, const int *counts, const int *starts)
{
    MPI_Datatype type;
    int sizes[DIMS];
    for (int d = 0; d < DIMS; d++)
        sizes[d] = b->count[d] + 2;
    MPI_Type_create_subarray(DIMS, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The outermost points on each side, and the part of the shell beyond them. */
static struct exchange exchange_create(const struct box *b)
{
    struct exchange e;
    for (int side = 0; side < SIDES; side++) {
        int d = side / 2, high = side % 2, counts[DIMS], starts[DIMS] = {1, 1, 1};
        memcpy(counts, b->count, sizeof counts);
        counts[d] = 1;
        starts[d] = high ? b->count[d] : 1;
        e.face[side] = part(b, counts, starts);
        starts[d] = high ? b->count[d] + 1 : 0;
        e.shell[side] = part(b, counts, starts);
        e.counts[side] = 1;
        e.begins[side] = 0; /* the types contain the offsets */
    }
    return e;
}

static void exchange_free(struct exchange *e)
{
    for (int side = 0; side < SIDES; side++) {
        MPI_Type_free(&e->face[side]);
        MPI_Type_free(&e->shell[side]);
    }
}

/* The new value of a point; beside[] is what lies on its six sides. */
static double update(double here, const double *beside)
{
    double sum = beside[0] + beside[1] + beside[2] + beside[3] + beside[4] + beside[5];
    return here + 0.1 * (sum - 6 * here);
}

/* Returns the largest change of a point. */
static double step(struct field *f)
{
    const struct box *b = &f->box;
    const double *old = f->old;
    double largest = 0;
    for (int x = 0; x < b->count[0]; x++)
        for (int y = 0; y < b->count[1]; y++)
            for (int z = 0; z < b->count[2]; z++) {
                size_t here = at(b, x, y, z);
                double beside[SIDES] = {old[at(b, x - 1, y, z)], old[at(b, x + 1, y, z)],
                                        old[at(b, x, y - 1, z)], old[at(b, x, y + 1, z)],
                                        old[here - 1],           old[here + 1]};
                double value = update(old[here], beside);
                double change = value > old[here] ? value - old[here] : old[here] - value;
                largest = change > largest ? change : largest;
                f->new[here] = value;
            }
    double *swapped = f->old;
    f->old = f->new;
    f->new = swapped;
    return largest;
}

/* Returns the largest change in the last step, on all ranks. At a surface that is kept at 0 there
 * is no neighbour (MPI_PROC_NULL), and the shell stays as it is. */
static double simulate(struct field *f, int steps, MPI_Comm cart)
{
    double change = 0;
    struct exchange e = exchange_create(&f->box);
    for (int n = 0; n < steps; n++) {
        MPI_Neighbor_alltoallw(f->old, e.counts, e.begins, e.face, f->old, e.counts, e.begins,
                               e.shell, cart);
        change = step(f);
    }
    exchange_free(&e);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, cart);
    return change;
}

/* ---- What came out */

/* Collects the field on rank 0, again by subarray types: of the box on one side, of the whole grid
 * on the other. Returns NULL on other ranks. */
static double *gather(const struct setup *s, const struct field *f, MPI_Comm cart)
{
    int rank, ranks, inner[DIMS] = {1, 1, 1};
    double *whole = NULL;
    MPI_Request sent;
    MPI_Comm_rank(cart, &rank);
    MPI_Comm_size(cart, &ranks);
    MPI_Datatype mine = part(&f->box, f->box.count, inner);
    MPI_Isend(f->old, 1, mine, 0, 0, cart, &sent);
    if (rank == 0) {
        whole = room((size_t)s->points[0] * (size_t)s->points[1] * (size_t)s->points[2]);
        for (int r = 0; r < ranks; r++) {
            MPI_Datatype place;
            struct box b = box_of(s, cart, r);
            MPI_Type_create_subarray(DIMS, s->points, b.count, b.first, MPI_ORDER_C, MPI_DOUBLE,
                                     &place);
            MPI_Type_commit(&place);
            MPI_Recv(whole, 1, place, r, 0, cart, MPI_STATUS_IGNORE);
            MPI_Type_free(&place);
        }
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Type_free(&mine);
    return whole;
}

/* A value of the whole grid, or what lies beyond it. */
static double look(const struct setup *s, const double *whole, int x, int y, int z)
{
    const int *n = s->points;
    if (y < 0 || y == n[1] || z < 0 || z == n[2])
        return 0;
    x = (x + n[0]) % n[0];
    return whole[((size_t)x * (size_t)n[1] + (size_t)y) * (size_t)n[2] + (size_t)z];
}

/* The same number of steps on the whole grid, without boxes, shells or messages. */
static double *serial_run(const struct setup *s)
{
    const int *n = s->points;
    size_t all = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    double *old = room(all), *new = room(all);
    for (int step = -1; step < s->steps; step++) {
        size_t here = 0;
        for (int x = 0; x < n[0]; x++)
            for (int y = 0; y < n[1]; y++)
                for (int z = 0; z < n[2]; z++, here++) {
                    double beside[SIDES] = {look(s, old, x - 1, y, z), look(s, old, x + 1, y, z),
                                            look(s, old, x, y - 1, z), look(s, old, x, y + 1, z),
                                            look(s, old, x, y, z - 1), look(s, old, x, y, z + 1)};
                    new[here] = step < 0 ? initial(s, x, y, z) : update(old[here], beside);
                }
        double *swapped = old;
        old = new;
        new = swapped;
    }
    free(new);
    return old;
}

/* FNV-1a over the bits of n values, lowest byte first: the same on every machine. */
static uint64_t checksum(const double *values, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int shift = 0; shift < 64; shift += 8)
            sum = (sum ^ (bits >> shift & 0xff)) * 0x100000001b3;
    }
    return sum;
}

/* Rank 0: judges the result. Returns the exit code. */
static int conclude(const struct setup *s, const double *whole, double change)
{
    size_t all = (size_t)s->points[0] * (size_t)s->points[1] * (size_t)s->points[2];
    bool same = true;
    printf("largest change at last %.6g; checksum %016" PRIx64 "\n", change, checksum(whole, all));
    if (!s->quick) {
        double *serial = serial_run(s);
        same = !memcmp(whole, serial, all * sizeof *serial);
        free(serial);
    }
    printf("check: %s\n", s->quick ? "no serial run"
                          : same   ? "the serial result is the same to the last bit"
                                   : "the serial result DIFFERS");
    return same ? 0 : 1;
}

/* Reads "40x32x24" into an array of DIMS numbers. */
static bool read_grid(const char *text, void *points)
{
    for (int d = 0; d < DIMS; d++) {
        char *end;
        errno = 0;
        long n = strtol(text, &end, 10);
        if (errno || end == text || n < 1 || n > 1000000000 || *end != (d < DIMS - 1 ? 'x' : '\0'))
            return false;
        ((int *)points)[d] = (int)n;
        text = end + 1;
    }
    return true;
}

/* Reads the command line: OPTIONS_RUN, or the exit code. */
static int parse(struct setup *s, int rank, int argc, char **argv)
{
    *s = (struct setup){.points = {40, 32, 24}, .steps = 50};
    const struct options_row rows[] = {
        {'g', "grid", "three numbers of points, like 40x32x24", .value = s->points,
         .read = read_grid},
        {'n', "steps", "a number of steps, 0 or more", .number = &s->steps, .most = 1000000000},
        {'q', "quick", .flag = &s->quick},
        {0},
    };
    const struct options options = {
        .program = "stencil",
        .usage = "usage: stencil [options]\n"
                 "Lets heat spread in a ring-shaped bar, by MPI's neighbourhood collectives.\n"
                 "  -g, --grid XxYxZ   points in each dimension (40x32x24)\n"
                 "  -n, --steps N      time steps (50)\n"
                 "  -q, --quick        without the comparison with a serial run on rank 0\n"
                 "  -h, --help         this text\n",
        .rows = rows,
    };
    return options_read(&options, rank, argc, argv);
}

/* A Cartesian grid of all ranks, with a point at least in every box. */
static MPI_Comm make_grid(const struct setup *s)
{
    int ranks, dims[DIMS] = {0, 0, 0}, periods[DIMS] = {1, 0, 0};
    MPI_Comm cart;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, DIMS, dims);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, dims, periods, 1, &cart);
    for (int d = 0; d < DIMS; d++) {
        int rank;
        MPI_Comm_rank(cart, &rank);
        if (rank == 0 && s->points[d] < dims[d])
            give_up("%d x %d x %d points cannot be divided among %d x %d x %d ranks; take a larger "
                    "grid",
                    s->points[0], s->points[1], s->points[2], dims[0], dims[1], dims[2]);
    }
    MPI_Barrier(cart); /* rank 0 may be ending the job */
    return cart;
}

static int run(const struct setup *s)
{
    int rank, code = 0, dims[DIMS], periods[DIMS], coords[DIMS];
    MPI_Comm cart = make_grid(s);
    MPI_Comm_rank(cart, &rank);
    struct field f = field_create(s, box_of(s, cart, rank));
    double start = MPI_Wtime(), change = simulate(&f, s->steps, cart);
    double seconds = MPI_Wtime() - start;
    double *whole = gather(s, &f, cart);
    if (rank == 0) {
        MPI_Cart_get(cart, DIMS, dims, periods, coords);
        printf("%d x %d x %d points on %d x %d x %d ranks, %d steps: %.3f s\n", s->points[0],
               s->points[1], s->points[2], dims[0], dims[1], dims[2], s->steps, seconds);
        code = conclude(s, whole, change);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, cart);
    free(whole);
    field_free(&f);
    MPI_Comm_free(&cart);
    return code;
}

int main(int argc, char **argv)
{
    struct setup s;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = parse(&s, rank, argc, argv);
    if (code == OPTIONS_RUN)
        code = run(&s);
    MPI_Finalize();
    return code;
}
