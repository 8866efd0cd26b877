// SPDX-License-Identifier: BSD-3-Clause
/*
 * One message of 4 GiB + 5 bytes, by the large-count forms, posted before it is sent; its length
 * and every byte of it arrive. With two ranks over the net, with one rank to itself. Needs 8.6 GB.
 */
#include "check.h"

#include <sys/mman.h>

enum { TAG = 1 };

/* Memory in large pages where the system has them: two million page faults take half a minute. */
static unsigned char *large_alloc(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        abort();
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

int main(int argc, char **argv)
{
    const MPI_Count bytes = ((MPI_Count)1 << 32) + 5;
    check_begin(&argc, &argv, 1);
    int from = 0, to = check.size - 1, count = -1;
    unsigned char *out = NULL, *in = NULL;
    MPI_Request request;
    MPI_Status st;
    if (check.rank == to) {
        in = large_alloc((size_t)bytes);
        MPI_Irecv_c(in, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    }
    if (check.rank == from) {
        out = large_alloc((size_t)bytes);
        check_fill(out, (size_t)bytes, from, TAG, 0);
        check_step("sending 4 GiB + 5 bytes");
        MPI_Send_c(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
        munmap(out, (size_t)bytes);
    }
    if (check.rank == to) {
        check_step("receiving 4 GiB + 5 bytes");
        MPI_Wait(&request, &st);
        CHECK_STATUS(st, from, TAG, bytes);
        CHECK_DATA(in, bytes, from, TAG, 0);
        MPI_Get_count(&st, MPI_BYTE, &count);
        CHECK(count == MPI_UNDEFINED, "MPI_Get_count of more than an int holds is %d", count);
        munmap(in, (size_t)bytes);
    }
    return check_done();
}
