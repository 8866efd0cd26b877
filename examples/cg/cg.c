// SPDX-License-Identifier: BSD-3-Clause
/*
 * cg: solves A x = b by the method of conjugate gradients, for a sparse, symmetric, positive
 * definite A from a Matrix Market file.
 *
 * Rank 0 reads the file and hands out rows; then every rank keeps its part of all vectors, products
 * bring what is needed from others, and MPI_Allreduce adds up dot products. At the end rank 0,
 * which keeps the whole matrix, puts the solution into the equation.
 *
 * Invariant: |b - A x| <= tolerance |b| when it stops, on any number of ranks. The last bits of x
 * differ: a dot product is rounded differently when its parts are divided differently.
 */
#include "../options.h"
#include "matrix.h"
#include "rows.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct setup {
    const char *path;
    double tolerance;
    int steps; /* at most */
};

static _Noreturn void give_up(const char *sentence)
{
    fprintf(stderr, "cg: %s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Element i of the right-hand side. */
static double right_side(int i)
{
    return 1 + i % 7 / 7.0;
}

static double dot(const struct rows *r, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < r->count; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Solves for this rank's part of x, from x = 0. Returns the steps it took. */
static int solve(struct rows *r, const struct setup *s, double *x)
{
    double *residual = rows_room((size_t)r->count, sizeof *residual);
    double *product = rows_room((size_t)r->count, sizeof *product);
    double *direction = r->vector; /* what the products take */
    int step = 0;
    for (int i = 0; i < r->count; i++)
        direction[i] = residual[i] = right_side(r->first + i);
    double square = dot(r, residual, residual), goal = square * s->tolerance * s->tolerance;
    while (square > goal && step < s->steps) {
        rows_multiply(r, product);
        double curvature = dot(r, direction, product);
        if (!(curvature > 0))
            give_up("the matrix is not positive definite, and this method needs one that is");
        double length = square / curvature;
        for (int i = 0; i < r->count; i++) {
            x[i] += length * direction[i];
            residual[i] -= length * product[i];
        }
        double before = square;
        square = dot(r, residual, residual);
        for (int i = 0; i < r->count; i++)
            direction[i] = residual[i] + square / before * direction[i];
        step++;
    }
    free(residual);
    free(product);
    return step;
}

/* Rank 0: puts the whole solution into the equation. Returns the exit code. */
static int conclude(const struct matrix *a, const struct setup *s, const double *x)
{
    double *product = rows_room((size_t)a->rows, sizeof *product);
    double wrong = 0, right = 0, size = 0;
    matrix_multiply(a, x, product);
    for (int i = 0; i < a->rows; i++) {
        double b = right_side(i);
        wrong += (b - product[i]) * (b - product[i]);
        right += b * b;
        size += x[i] * x[i];
    }
    free(product);
    /* What the method takes for the residual drifts from the true one; ten times is a lot. */
    double ratio = sqrt(wrong / right);
    bool good = ratio <= 10 * s->tolerance;
    printf("|x| = %.10g\n"
           "check: |b - A x| = %.2g |b|, %s %g |b|\n",
           sqrt(size), ratio, good ? "not more than" : "MORE than", 10 * s->tolerance);
    return good ? 0 : 1;
}

static void read_matrix(struct matrix *a, const struct setup *s)
{
    char why[512];
    if (!matrix_read(a, s->path, why, sizeof why))
        give_up(why);
    if (!matrix_is_symmetric(a))
        give_up("the matrix is not symmetric, and this method needs one that is");
}

static int run(const struct setup *s, int rank, int ranks)
{
    struct matrix a = {.rows = 0};
    struct rows r;
    int code = 0;
    if (rank == 0)
        read_matrix(&a, s);
    rows_create(&r, &a);
    double *x = rows_room((size_t)r.count, sizeof *x);
    double *whole = rows_room(rank == 0 ? (size_t)r.all : 0, sizeof *whole);
    double start = MPI_Wtime();
    int steps = solve(&r, s, x);
    double seconds = MPI_Wtime() - start;
    rows_gather(&r, x, whole);
    if (rank == 0) {
        printf("%s: %d rows, %d entries, %d steps on %d ranks: %.3f s\n", s->path, a.rows, a.count,
               steps, ranks, seconds);
        code = conclude(&a, s, whole);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(x);
    free(whole);
    rows_free(&r);
    matrix_free(&a);
    return code;
}

/* Reads a tolerance. The condition is false for NaN. */
static bool read_tolerance(const char *text, void *value)
{
    char *end;
    double tolerance = strtod(text, &end);
    *(double *)value = tolerance;
    return end != text && !*end && tolerance >= 1e-14 && tolerance < 1;
}

/* Reads the command line: OPTIONS_RUN, or the exit code. */
static int parse(struct setup *s, int rank, int argc, char **argv)
{
    *s = (struct setup){.tolerance = 1e-10, .steps = 10000};
    const struct options_row rows[] = {
        {'t', "tolerance", "a tolerance of at least 1e-14 and below 1", .value = &s->tolerance,
         .read = read_tolerance},
        {'n', "steps", "a number of steps, 0 or more", .number = &s->steps, .most = INT_MAX},
        {0},
    };
    const struct options options = {
        .program = "cg",
        .usage =
            "usage: cg [options] MATRIX.mtx\n"
            "Solves A x = b by conjugate gradients; A is symmetric and positive definite.\n"
            "  -t, --tolerance T   ends when the residual is T of the right-hand side (1e-10)\n"
            "  -n, --steps N       at most so many steps (10000)\n"
            "  -h, --help          this text\n",
        .rows = rows,
        .path = &s->path,
        .file = "one matrix, a Matrix Market file",
    };
    return options_read(&options, rank, argc, argv);
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
