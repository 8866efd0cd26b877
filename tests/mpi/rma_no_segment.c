// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=shm,rxm,mixed,nodes seconds=30
/*
 * Windows of a rank that may open no file, so that it cannot map the segment of its node: windows
 * go by messages, and MPI_Win_allocate_shared fails at all ranks. Afterwards windows are shared
 * again.
 */
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>

enum { BYTES = 4 << 20 };

static struct rlimit before;

/* The last rank can open no more files. */
static void forbid_files(void)
{
    int lowest = open("/dev/null", O_RDONLY);
    struct rlimit limit = before;
    close(lowest);
    if (check.rank != check.size - 1)
        return;
    limit.rlim_cur = (rlim_t)lowest;
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    CHECK(open("/dev/null", O_RDONLY) < 0, "a file could be opened in spite of the limit");
}

/* Each rank writes to the next one. */
static void put_around(MPI_Win win, const unsigned char *memory, unsigned char *data, int round)
{
    int next = (check.rank + 1) % check.size, previous = (check.rank + check.size - 1) % check.size;
    check_fill(data, BYTES, check.rank, 0, round);
    MPI_Win_fence(0, win);
    CHECK_CLASS(MPI_Put(data, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_DATA(memory, BYTES, previous, 0, round);
}

static void use_windows(unsigned char *data, unsigned char *own, int round)
{
    MPI_Win win;
    unsigned char *memory;
    check_step("MPI_Win_allocate, round %d", round);
    CHECK_CLASS(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
                MPI_SUCCESS);
    put_around(win, memory, data, round);
    MPI_Win_free(&win);
    check_step("MPI_Win_create, round %d", round);
    CHECK_CLASS(MPI_Win_create(own, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    put_around(win, own, data, round);
    MPI_Win_free(&win);
}

static void allocate_shared(int want)
{
    void *memory;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Comm node;
    int size;
    check_step("MPI_Win_allocate_shared, which returns %d", want);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    if (size == check.size)
        CHECK_CLASS(MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, node, &memory, &win), want);
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned char *data = check_alloc(BYTES), *own = check_alloc(BYTES);
    int *all = check_alloc((size_t)check.size * sizeof *all);
    memset(all, 0, (size_t)check.size * sizeof *all);
    for (int i = 0; i < 10; i++) /* connects; of two connections of a pair one is closed again */
        MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(!getrlimit(RLIMIT_NOFILE, &before), "getrlimit");
    forbid_files();
    use_windows(data, own, 1);
    allocate_shared(MPI_ERR_RMA_SHARED);
    setrlimit(RLIMIT_NOFILE, &before);
    allocate_shared(MPI_SUCCESS);
    use_windows(data, own, 2);
    free(all);
    free(data);
    free(own);
    return check_done();
}
