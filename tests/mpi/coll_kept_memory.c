// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm seconds=60
/*
 * A long reduction does not touch new memory at each call, and what it keeps for the next call is
 * bounded, whatever the lengths were.
 */
#include "check.h"

#include <stdlib.h>
#include <sys/resource.h>

/* A call needs twice the operand besides the buffers: 512 pages. */
enum { BLOCK = 1 << 18, CALLS = 20, FAULTS_MOST = 128 };

/* A rank keeps 16 MiB; the rest is for the provider and the allocator. AddressSanitizer does not
 * reuse what is freed. */
#ifdef __SANITIZE_ADDRESS__
enum { KIB_MOST = 256 << 10 };
#else
enum { KIB_MOST = 24 << 10 };
#endif
enum { LONGEST = 2 << 20 };

static void reduce(const unsigned char *in, unsigned char *out, int block, int calls)
{
    for (int i = 0; i < calls; i++) {
        MPI_Reduce_scatter_block(in, out, block, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
        for (int at = 0; at < block; at += 4097)
            CHECK(out[at] == (check.size % 2 ? in[at] : 0), "byte %d of %d is %d", at, block,
                  out[at]);
    }
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv)
{
    check_watch();
    MPI_Init(&argc, &argv);
    check_world(2);
    size_t bytes = (size_t)LONGEST * (size_t)check.size;
    unsigned char *in = malloc(bytes), *out = malloc(LONGEST);
    CHECK(in && out, "no memory for the buffers");
    memset(in, 0x5a, bytes);
    memset(out, 0, LONGEST);
    reduce(in, out, BLOCK, CALLS);
    long before = faults();
    reduce(in, out, BLOCK, CALLS);
    long each = (faults() - before) / CALLS;
    CHECK(each < FAULTS_MOST, "a call touches %ld new pages", each);
    long resident = check_status_kib("VmRSS");
    for (int block = 20000; block < LONGEST; block += block / 10)
        reduce(in, out, block, 1);
    long more = check_status_kib("VmRSS") - resident;
    CHECK(resident > 0, "the memory of this process cannot be read");
    CHECK(more < KIB_MOST, "%ld KiB are kept after calls of many lengths", more);
    free(out);
    free(in);
    return check_done();
}
