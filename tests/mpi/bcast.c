// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,8 lanes=rxm seconds=60
// run: ranks=5 lanes=rxm-soft,net-soft,shm,shm-copy,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/* MPI_Bcast: every root, sizes from 0 to a megabyte, types with holes, and many in a row. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 7, 64, 1000, 16385, 100001, 1 << 20};
    check_begin(&argc, &argv, 1);
    for (int root = 0; root < check.size; root++) {
        for (int s = 0; s < 8; s++) {
            size_t n = (size_t)sizes[s];
            struct check_buffer b = check_buffer_new(n, (size_t)s % 3);
            check_step("%zu bytes from root %d", n, root);
            if (check.rank == root) {
                check_fill(b.data, n, root, s, 1);
            }
            if (s & 1) {
                MPI_Bcast_c(b.data, (MPI_Count)n, MPI_BYTE, root, MPI_COMM_WORLD);
            } else {
                MPI_Bcast(b.data, (int)n, MPI_BYTE, root, MPI_COMM_WORLD);
            }
            CHECK_DATA(b.data, n, root, s, 1);
            CHECK(check_buffer_intact(&b, n), "%zu bytes: bytes outside were written", n);
            check_buffer_free(&b);
        }
    }
    check_step("300 in a row, the root going around");
    for (int i = 0; i < 300; i++) {
        int value = check.rank == i % check.size ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, i % check.size, MPI_COMM_WORLD);
        CHECK(value == i, "broadcast %d brought %d", i, value);
    }
    return check_done();
}
