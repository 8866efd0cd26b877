// SPDX-License-Identifier: BSD-3-Clause
/*
 * commit_calls: builds, commits and frees datatypes of so many irregular blocks, for
 * bench/linear_commit, which counts the instructions of measured().
 *
 *     commit_calls KIND BLOCKS
 *
 * Invariant: no two neighbouring blocks touch, and no block is like the next: nothing can be
 * merged.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blocks {
    int n, *lengths;
    MPI_Aint *places;
    MPI_Datatype *types, few;
};

static void make(const char *kind, const struct blocks *b, MPI_Datatype *type)
{
    if (strcmp(kind, "hindexed") == 0)
        MPI_Type_create_hindexed(b->n, b->lengths, b->places, MPI_DOUBLE, type);
    else if (strcmp(kind, "hindexed_block") == 0)
        MPI_Type_create_hindexed_block(b->n, 3, b->places, MPI_DOUBLE, type);
    else if (strcmp(kind, "struct") == 0)
        MPI_Type_create_struct(b->n, b->lengths, b->places, b->types, type);
    else /* blocks with holes of their own */
        MPI_Type_create_hindexed(b->n, b->lengths, b->places, b->few, type);
}

__attribute__((noinline)) void measured(const char *kind, const struct blocks *b);

void measured(const char *kind, const struct blocks *b)
{
    MPI_Datatype type;
    make(kind, b, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    struct blocks b = {.n = argc == 3 ? atoi(argv[2]) : 0};
    MPI_Init(&argc, &argv);
    if (b.n < 1) {
        fprintf(stderr, "usage: commit_calls hindexed|hindexed_block|struct|nested BLOCKS\n");
        MPI_Finalize();
        return 2;
    }
    b.lengths = malloc((size_t)b.n * sizeof *b.lengths);
    b.places = malloc((size_t)b.n * sizeof *b.places);
    b.types = malloc((size_t)b.n * sizeof(MPI_Datatype));
    if (!b.lengths || !b.places || !b.types)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < b.n; i++) {
        b.lengths[i] = 1 + i % 3;
        b.places[i] = (MPI_Aint)i * 400 + (i * 7 % 5) * 8;
        b.types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
    }
    MPI_Type_vector(7, 1, 2, MPI_DOUBLE, &b.few);
    measured(argv[1], &b);
    MPI_Type_free(&b.few);
    free(b.lengths);
    free(b.places);
    free(b.types);
    MPI_Finalize();
    return 0;
}
