// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,rxm,net-soft seconds=30
/*
 * A target that makes no MPI call until operations have changed its memory: within a node an
 * allocated window needs no help of the target (WEFT_PROGRESS_THREAD stays off there); elsewhere,
 * and for memory of the program, its progress thread applies operations.
 */
#include "check.h"

/* The cell behind those of puts and gets is the flag, which only an atomic operation changes. */
enum { CELLS = 40000, FLAG = CELLS, BYTES = (CELLS + 1) * sizeof(int64_t) };

static void wait_for(int64_t *cell, int64_t value)
{
    while (__atomic_load_n(cell, __ATOMIC_ACQUIRE) != value)
        usleep(200);
}

static void check_window(MPI_Win win, int64_t *cells)
{
    int64_t *data = check_alloc(CELLS * sizeof *data), one = 1, seen = -1;
    MPI_Datatype every_second;
    MPI_Type_create_resized(MPI_INT64_T, 0, 2 * sizeof(int64_t), &every_second);
    MPI_Type_commit(&every_second);
    memset(cells, 0, BYTES);
    for (int i = 0; i < CELLS; i++)
        data[i] = i + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 1)
        wait_for(&cells[FLAG], 1);
    if (check.rank == 0) {
        MPI_Win_lock_all(0, win);
        MPI_Put(data, CELLS, MPI_INT64_T, 1, 0, CELLS, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
        MPI_Put(data, CELLS / 2, MPI_INT64_T, 1, 0, CELLS / 2, every_second, win);
        MPI_Win_flush(1, win);
        memset(data, 0, CELLS * sizeof *data);
        MPI_Get(data, CELLS / 2, every_second, 1, 1, CELLS / 2, every_second, win);
        MPI_Win_flush(1, win);
        for (int i = 0; i < CELLS; i++)
            CHECK(data[i] == (i % 2 ? 0 : i + 2), "element %d of the get is %lld", i,
                  (long long)data[i]);
        MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, 1, FLAG, MPI_SUM, win);
        MPI_Win_unlock_all(win);
        CHECK(seen == 0, "the flag was %lld", (long long)seen);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; check.rank == 1 && i < CELLS; i++)
        CHECK(cells[i] == (i % 2 ? i + 1 : i / 2 + 1), "cell %d is %lld", i, (long long)cells[i]);
    MPI_Type_free(&every_second);
    free(data);
}

int main(int argc, char **argv)
{
    int64_t *cells;
    MPI_Win win;
    bool node = getenv("WEFT_SHM") && !strcmp(getenv("WEFT_SHM"), "1");
    if (!node)
        setenv("WEFT_PROGRESS_THREAD", "on", 1);
    check_begin(&argc, &argv, 2);
    check_step("MPI_Win_allocate");
    MPI_Win_allocate(BYTES, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    check_window(win, cells);
    MPI_Win_free(&win);
    if (node)
        return check_done();
    check_step("MPI_Win_create");
    cells = check_host(BYTES);
    MPI_Win_create(cells, BYTES, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_window(win, cells);
    MPI_Win_free(&win);
    free(cells);
    return check_done();
}
