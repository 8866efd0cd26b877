// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=8 lanes=rxm,net-soft,shm seconds=30
// run: ranks=64 lanes=rxm,shm seconds=60
/* Every rank is there exactly once, on a process of its own. */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    struct {
        int rank, size, pid, zero;
    } mine = {check.rank, check.size, (int)getpid(), 0};
    int(*all)[4] = check_alloc((size_t)check.size * sizeof *all);
    check_step("gathering ranks and process ids");
    MPI_Allgather(&mine, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check.size; r++) {
        CHECK(all[r][0] == r && all[r][1] == check.size, "place %d holds rank %d of %d", r,
              all[r][0], all[r][1]);
        for (int q = 0; q < r; q++) {
            CHECK(all[r][2] != all[q][2], "ranks %d and %d are one process", q, r);
        }
    }
    free(all);
    return check_done();
}
