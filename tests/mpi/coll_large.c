// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-coll seconds=90 memory=5
// run: ranks=1 lanes=self seconds=60 memory=3
/*
 * Collectives beyond the reach of int: a broadcast of 2^31 + 5 bytes, every one of which arrives;
 * blocks that begin beyond 2^31 elements and beyond 4 GiB; counts beyond 2^32 of elements without
 * data, in every form that has counts.
 */
#include "check.h"

#include <sys/mman.h>

static const MPI_Count many = ((MPI_Count)1 << 32) + 7; /* of elements without data */

static unsigned char *map(size_t bytes)
{
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "no address space for %zu bytes\n", bytes);
        abort();
    }
    madvise(p, bytes, MADV_HUGEPAGE); // a million page faults take most of a minute
    return p;
}

/* Byte i of the data; no power of two is a period of it. */
static uint64_t word(size_t i)
{
    return (i + 1) * 0x9E3779B97F4A7C15u;
}

static void broadcast(void)
{
    const size_t bytes = ((size_t)1 << 31) + 5, words = bytes / sizeof(uint64_t);
    unsigned char *data = map(bytes);
    uint64_t *as_words = (uint64_t *)data;
    check_step("a broadcast of %zu bytes", bytes);
    if (check.rank == 0) {
        for (size_t i = 0; i < words; i++)
            as_words[i] = word(i);
        memset(data + words * sizeof(uint64_t), 0x5A, bytes % sizeof(uint64_t));
    }
    MPI_Bcast_c(data, (MPI_Count)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    size_t wrong = 0;
    for (size_t i = 0; i < words; i++)
        wrong += as_words[i] != word(i);
    for (size_t i = words * sizeof(uint64_t); i < bytes; i++)
        wrong += data[i] != 0x5A;
    CHECK(wrong == 0, "%zu of the words that were broadcast are wrong", wrong);
    munmap(data, bytes);
}

/* Blocks of three ints, the block of rank r begins at element r * far. */
static void far_blocks(void)
{
    enum { N = 3 };
    const MPI_Aint far = ((MPI_Aint)1 << 31) + 11;
    const size_t bytes = ((size_t)check.size * (size_t)far + N) * sizeof(int);
    int *out = (int *)map(bytes), *back = (int *)map(bytes), in[N];
    MPI_Count *counts = check_host((size_t)check.size * sizeof *counts);
    MPI_Aint *displs = check_host((size_t)check.size * sizeof *displs);
    check_step("blocks that begin beyond 2^31 elements");
    for (int r = 0; r < check.size; r++) {
        counts[r] = N;
        displs[r] = (check.size - 1 - r) * far;
    }
    for (int i = 0; i < N; i++)
        in[i] = check.rank * 10 + i;
    MPI_Allgatherv_c(in, N, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check.size; r++)
        for (int i = 0; i < N; i++)
            CHECK(out[displs[r] + i] == r * 10 + i, "block %d has %d at %d", r, out[displs[r] + i],
                  i);
    MPI_Alltoallv_c(out, counts, displs, MPI_INT, back, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check.size; r++)
        CHECK(back[displs[r]] == check.rank * 10, "rank %d gave %d", r, back[displs[r]]);
    memset(in, 0, sizeof in);
    MPI_Scatterv_c(out, counts, displs, MPI_INT, in, N, MPI_INT, check.size - 1, MPI_COMM_WORLD);
    CHECK(in[0] == check.rank * 10, "the root scattered %d", in[0]);
    munmap(out, bytes);
    munmap(back, bytes);
    free(counts);
    free(displs);
}

/* Nothing is moved, but every count is looked at, multiplied and compared. */
static void without_data(void)
{
    MPI_Datatype nothing;
    MPI_Count *counts = check_host((size_t)check.size * sizeof *counts);
    MPI_Aint *displs = check_host((size_t)check.size * sizeof *displs);
    MPI_Datatype *types = check_host((size_t)check.size * sizeof(MPI_Datatype));
    MPI_Request request;
    char in = 1, out = 2;
    check_step("%lld elements without data", (long long)many);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    for (int r = 0; r < check.size; r++) {
        counts[r] = many + r;
        displs[r] = 0;
        types[r] = nothing;
    }
    MPI_Bcast_c(&in, many, nothing, 0, MPI_COMM_WORLD);
    MPI_Gather_c(&in, many, nothing, &out, many, nothing, 0, MPI_COMM_WORLD);
    MPI_Gatherv_c(&in, many + check.rank, nothing, &out, counts, displs, nothing, 0,
                  MPI_COMM_WORLD);
    MPI_Scatter_c(&in, many, nothing, &out, many, nothing, 0, MPI_COMM_WORLD);
    MPI_Allgather_c(&in, many, nothing, &out, many, nothing, MPI_COMM_WORLD);
    MPI_Alltoall_c(&in, many, nothing, &out, many, nothing, MPI_COMM_WORLD);
    MPI_Alltoallw_c(&in, counts, displs, types, &out, counts, displs, types, MPI_COMM_WORLD);
    MPI_Ibcast_c(&in, many, nothing, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast_init_c(&in, many, nothing, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    CHECK(in == 1 && out == 2, "what has no data wrote %d and %d", in, out);
    MPI_Type_free(&nothing);
    free(counts);
    free(displs);
    free(types);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    without_data();
    far_blocks();
    broadcast();
    return check_done();
}
