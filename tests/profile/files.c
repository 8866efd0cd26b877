// SPDX-License-Identifier: BSD-3-Clause
/* Each rank writes 3 records of 1000 bytes and one of 100 KiB, and reads 500 bytes; then, behind a
 * view of doubles, by its own pointer one page at a multiple of its size and one beside it, and
 * nothing by the shared pointer. A put has 80
 * bytes, and goes to the next rank of MPI_COMM_WORLD, and of one in reverse order. All ranks pass
 * 12 bytes to the neighbor's rank in an alltoallv, and blocks of 16 bytes to their neighbors on a
 * line. */
#include <mpi.h>
#include <stdlib.h>

enum { SMALL = 1000, LARGE = 100 * 1024, PAGE = 4096 / sizeof(double) };

static void use_file(const char *name, int rank)
{
    static char buffer[LARGE];
    MPI_File file;
    MPI_Offset at = (MPI_Offset)rank * (3 * SMALL + LARGE);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int i = 0; i < 3; i++)
        MPI_File_write_at(file, at + (MPI_Offset)i * SMALL, buffer, SMALL, MPI_BYTE,
                          MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, at + 3 * SMALL, buffer, LARGE, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, at, buffer, 500, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 4096, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_seek(file, (MPI_Offset)rank * 2 * PAGE, MPI_SEEK_SET);
    MPI_File_read(file, buffer, PAGE, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 1, MPI_SEEK_CUR);
    MPI_File_read(file, buffer, PAGE, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_shared(file, buffer, 0, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void put(MPI_Comm comm)
{
    double memory[10], from[10] = {0};
    int rank, size;
    MPI_Win window;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, comm, &window);
    MPI_Win_fence(0, window);
    MPI_Put(from, 10, MPI_DOUBLE, (rank + 1) % size, 0, 10, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void exchange(int rank, int size)
{
    int *counts = calloc((size_t)size * 4, sizeof *counts);
    int sends[3] = {0}, receives[3];
    if (!counts)
        abort();
    counts[(rank + 1) % size] = 3;
    counts[size + (rank + size - 1) % size] = 3;
    MPI_Alltoallv(sends, counts, counts + (ptrdiff_t)2 * size, MPI_INT, receives, counts + size,
                  counts + (ptrdiff_t)3 * size, MPI_INT, MPI_COMM_WORLD);
    free(counts);
}

static void exchange_on_line(MPI_Comm comm, int size)
{
    int open = 0, sends[8] = {0}, receives[8];
    MPI_Comm line;
    MPI_Cart_create(comm, 1, &size, &open, 0, &line);
    MPI_Neighbor_alltoall(sends, 4, MPI_INT, receives, 4, MPI_INT, line);
    MPI_Neighbor_allgather(sends, 4, MPI_INT, receives, 4, MPI_INT, line);
    MPI_Comm_free(&line);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    use_file(argv[1], rank);
    MPI_Comm reverse;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
    put(MPI_COMM_WORLD);
    put(reverse);
    exchange(rank, size);
    exchange_on_line(reverse, size);
    MPI_Comm_free(&reverse);
    MPI_Finalize();
    return 0;
}
