// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm seconds=300 memory=5
// run: ranks=1 lanes=self seconds=300 memory=5
/*
 * One message of 4 GiB + 5 bytes, by the large-count forms, posted before it is sent; its length
 * and every byte of it arrive. With two ranks over the net, with one rank to itself. What is sent
 * repeats, so that only the receiver needs 4.3 GB.
 */
#include "check.h"

#include <sys/mman.h>

enum { TAG = 1 };

/* What a lane does wrong with pieces of a power of two must not fit the pattern: so no such period.
 */
enum { PERIOD = 67 << 20 };

static void *map_or_end(void *at, size_t bytes, int flags, int fd)
{
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        abort();
    }
    return p;
}

/* bytes of addresses behind which the same PERIOD bytes of memory lie over and over. */
static unsigned char *map_periodic(size_t bytes)
{
    size_t whole = (bytes + PERIOD - 1) / PERIOD * PERIOD;
    unsigned char *p = map_or_end(NULL, whole, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    int fd = memfd_create("big_4g", 0);
    if (fd < 0 || ftruncate(fd, PERIOD) != 0) {
        fprintf(stderr, "no shared memory of %d bytes\n", (int)PERIOD);
        abort();
    }
    for (size_t at = 0; at < whole; at += PERIOD) {
        map_or_end(p + at, PERIOD, MAP_SHARED | MAP_FIXED, fd);
    }
    close(fd);
    return p;
}

static void verify(const unsigned char *in, size_t bytes, int from)
{
    unsigned char *expected = check_alloc(PERIOD);
    check_fill(expected, PERIOD, from, TAG, 0);
    for (size_t at = 0; at < bytes; at += PERIOD) {
        size_t now = bytes - at < PERIOD ? bytes - at : PERIOD;
        CHECK(memcmp(in + at, expected, now) == 0, "wrong data between bytes %zu and %zu", at,
              at + now);
    }
    free(expected);
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
        in = map_or_end(NULL, (size_t)bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        madvise(in, (size_t)bytes, MADV_HUGEPAGE); // a million page faults take most of a minute
        MPI_Irecv_c(in, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
    }
    if (check.rank == from) {
        out = map_periodic((size_t)bytes);
        check_fill(out, PERIOD, from, TAG, 0);
        check_step("sending 4 GiB + 5 bytes");
        MPI_Send_c(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    }
    if (check.rank == to) {
        check_step("receiving 4 GiB + 5 bytes");
        MPI_Wait(&request, &st);
        CHECK_STATUS(st, from, TAG, bytes);
        check_step("verifying 4 GiB + 5 bytes");
        verify(in, (size_t)bytes, from);
        MPI_Get_count(&st, MPI_BYTE, &count);
        CHECK(count == MPI_UNDEFINED, "MPI_Get_count of more than an int holds is %d", count);
    }
    return check_done();
}
