// SPDX-License-Identifier: BSD-3-Clause
/*
 * survive [-n CELLS] [-s STEPS] [RANK:STEP]...: heat in a rod, on ranks of which some die, and the
 * answer is that of a run without deaths, to the last bit. Rank RANK kills itself in step STEP:
 *
 *     weftrun --keep-going -n 4 survive 1:130 3:470
 *
 * After each EACH steps all ranks gather the whole rod and agree whether all have it: then it is
 * the checkpoint. If a rank has died, the others make a communicator without it, divide the rod
 * among themselves and go back to the checkpoint. A rank that has lost a neighbour keeps sending to
 * the other one until the checkpoint, so that no rank waits for it.
 *
 * Rank 0 of those that are left compares the result with its own computation of the whole rod.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EACH = 50 };

static int cells = 1000, steps = 1000;
static int world_rank;

/* The part of the rod that a rank has, with a cell of each neighbour beside it. */
struct part {
    int first, count;
    double *now, *next; /* cells -1 to count */
};

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fprintf(stderr, "survive: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static double heat_at_start(int cell)
{
    return cell % 97 == 0 ? 1000.0 : (double)(cell % 13);
}

/* One step of cells 0 to count - 1; each cell is computed alike, whatever rank has it. */
static void compute(const double *now, double *next, int count)
{
    for (int i = 0; i < count; i++)
        next[i] = now[i] + 0.25 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
}

static int first_of(int rank, int size)
{
    return (int)((long)cells * rank / size);
}

static struct part take_part(MPI_Comm comm, const double *rod)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    struct part part = {.first = first_of(rank, size)};
    part.count = first_of(rank + 1, size) - part.first;
    part.now = (double *)allocate(((size_t)part.count + 2) * sizeof(double)) + 1;
    part.next = (double *)allocate(((size_t)part.count + 2) * sizeof(double)) + 1;
    memcpy(part.now, rod + part.first, (size_t)part.count * sizeof(double));
    return part;
}

static void drop_part(struct part *part)
{
    free(part->now - 1);
    free(part->next - 1);
}

/* Exchanges the outer cells; the ends of the rod are cold. False if a neighbour is dead. */
static int exchange(MPI_Comm comm, struct part *part)
{
    int rank, size, n = 0, good = 1;
    MPI_Request requests[4];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *now = part->now;
    good &= MPI_Irecv(&now[-1], 1, MPI_DOUBLE, left, 0, comm, &requests[n]) == MPI_SUCCESS && ++n;
    good &=
        MPI_Irecv(&now[part->count], 1, MPI_DOUBLE, right, 0, comm, &requests[n]) == MPI_SUCCESS &&
        ++n;
    good &= MPI_Isend(&now[0], 1, MPI_DOUBLE, left, 0, comm, &requests[n]) == MPI_SUCCESS && ++n;
    good &= MPI_Isend(&now[part->count - 1], 1, MPI_DOUBLE, right, 0, comm, &requests[n]) ==
                MPI_SUCCESS &&
            ++n;
    for (int i = 0; i < n; i++)
        good &= MPI_Wait(&requests[i], MPI_STATUS_IGNORE) == MPI_SUCCESS;
    return good;
}

/* Some steps. False if this rank's part is wrong because a neighbour is dead. */
static int advance(MPI_Comm comm, struct part *part, int from, int to, int dies_at)
{
    int good = 1;
    for (int step = from; step < to; step++) {
        if (step == dies_at)
            kill(getpid(), SIGKILL);
        good &= exchange(comm, part);
        compute(part->now, part->next, part->count);
        double *next = part->next;
        part->next = part->now;
        part->now = next;
    }
    return good;
}

/* All ranks get the whole rod. */
static int gather(MPI_Comm comm, const struct part *part, double *rod)
{
    int size;
    MPI_Comm_size(comm, &size);
    int *counts = allocate((size_t)size * sizeof *counts),
        *places = allocate((size_t)size * sizeof *places);
    for (int rank = 0; rank < size; rank++) {
        places[rank] = first_of(rank, size);
        counts[rank] = first_of(rank + 1, size) - places[rank];
    }
    int code =
        MPI_Allgatherv(part->now, part->count, MPI_DOUBLE, rod, counts, places, MPI_DOUBLE, comm);
    free(counts);
    free(places);
    return code == MPI_SUCCESS;
}

/* A communicator without the dead. */
static MPI_Comm without_dead(MPI_Comm comm)
{
    MPI_Comm living;
    if (MPIX_Comm_shrink(comm, &living) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    return living;
}

/* From the checkpoint of step `done` on. Returns the communicator of those that are left. */
static MPI_Comm run(double *checkpoint, int dies_at)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    double *rod = allocate((size_t)cells * sizeof *rod);
    for (int done = 0; done < steps;) {
        int until = done + EACH < steps ? done + EACH : steps;
        struct part part = take_part(comm, checkpoint);
        int good = advance(comm, &part, done, until, dies_at);
        good &= gather(comm, &part, rod); /* by all, also by those whose part is wrong */
        drop_part(&part);
        int code = MPIX_Comm_agree(comm, &good);
        if (good) {
            memcpy(checkpoint, rod, (size_t)cells * sizeof *rod);
            done = until;
        }
        if (!good || code != MPI_SUCCESS)
            comm = without_dead(comm);
    }
    free(rod);
    return comm;
}

static int is_right(const double *result)
{
    double *now = (double *)allocate(((size_t)cells + 2) * sizeof *now) + 1;
    double *next = (double *)allocate(((size_t)cells + 2) * sizeof *next) + 1;
    for (int i = 0; i < cells; i++)
        now[i] = heat_at_start(i);
    for (int step = 0; step < steps; step++) {
        compute(now, next, cells);
        double *other = now;
        now = next;
        next = other;
    }
    int right = memcmp(now, result, (size_t)cells * sizeof *now) == 0;
    free(now - 1);
    free(next - 1);
    return right;
}

/* The step in which this rank dies, of the arguments RANK:STEP; -1: none. */
static int victim_of(int argc, char **argv)
{
    int rank, step, option, dies_at = -1;
    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            cells = atoi(optarg);
        else if (option == 's')
            steps = atoi(optarg);
    }
    for (int i = optind; i < argc; i++)
        if (sscanf(argv[i], "%d:%d", &rank, &step) == 2 && rank == world_rank)
            dies_at = step;
    return dies_at;
}

int main(int argc, char **argv)
{
    int rank, size, world_size, right = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int dies_at = victim_of(argc, argv);
    if (cells < world_size || steps < 0) {
        if (world_rank == 0)
            fprintf(stderr, "survive: the rod needs a cell for each rank\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double *rod = allocate((size_t)cells * sizeof *rod);
    for (int i = 0; i < cells; i++)
        rod[i] = heat_at_start(i);
    MPI_Comm comm = run(rod, dies_at);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0) {
        right = is_right(rod);
        printf("%d of %d ranks are left after %d steps: the result is %s\n", size, world_size,
               steps, right ? "right to the last bit" : "WRONG");
    }
    free(rod);
    MPI_Finalize();
    return right ? 0 : 1;
}
