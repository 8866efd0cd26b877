// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,net-soft,shm,shm-copy,mixed seconds=60
/*
 * Many messages, mostly short, around a ring: all data are right, and after the first half memory
 * does not grow. Its peak may: libfabric takes memory for long messages that arrive before their
 * receives, until they match. In a short run it may grow by POOLS_KIB: over tcp;ofi_rxm the pages
 * of libfabric's pools are first touched in the first 6,000 rounds, 8.8 MiB of them after round
 * 1024; from there to round 50,000 it grew by 0.1 MiB. WEFT_TEST_MESSAGES: messages that each rank
 * sends, in thousands (ci/endurance).
 */
#include "check.h"

/* AddressSanitizer keeps up to 256 MiB of freed memory. */
#ifdef __SANITIZE_ADDRESS__
enum { QUARANTINE_KIB = 256 << 10 };
#else
enum { QUARANTINE_KIB = 0 };
#endif

enum { WINDOW = 64, THOUSANDS = 20, GROWTH_KIB = 512, POOLS_KIB = 12 << 10, SHORT = 16384 };

/* The length of each message in one round of so many. */
static const struct {
    int period;
    size_t bytes;
} kinds[] = {{1024, 1 << 20}, {256, 100000}, {32, 3000}, {1, 8}};

static size_t length_of(long round)
{
    int kind = 0;
    while (round % kinds[kind].period)
        kind++;
    return kinds[kind].bytes;
}

/* One window of messages. Long ones share two buffers. */
static void exchange(long round)
{
    static uint64_t in[WINDOW][1 << 14], out[1 << 17], last[1 << 17];
    MPI_Request requests[2 * WINDOW];
    int left = (check.rank + check.size - 1) % check.size, right = (check.rank + 1) % check.size;
    size_t bytes = length_of(round), words = bytes / sizeof **in;
    bool is_long = bytes > sizeof *in;
    int messages = is_long ? 1 : WINDOW, source = round % 3 ? left : MPI_ANY_SOURCE;
    for (int i = 0; i < messages; i++)
        MPI_Irecv(is_long ? last : in[i], (int)bytes, MPI_BYTE, source, i, MPI_COMM_WORLD,
                  &requests[i]);
    out[0] = out[words - 1] = check_mix((uint64_t)round * 1024 + (uint64_t)check.rank);
    for (int i = 0; i < messages; i++)
        MPI_Isend(out, (int)bytes, MPI_BYTE, right, i, MPI_COMM_WORLD, &requests[messages + i]);
    MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
    uint64_t expected = check_mix((uint64_t)round * 1024 + (uint64_t)left);
    for (int i = 0; i < messages; i++) {
        const uint64_t *data = is_long ? last : in[i];
        CHECK(data[0] == expected && data[words - 1] == expected,
              "round %ld, message %d: %zu bytes"
              " are wrong",
              round, i, bytes);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    long rounds = check_setting("WEFT_TEST_MESSAGES", THOUSANDS) * 1000L / WINDOW;
    if (rounds < 2 * kinds[0].period)
        rounds = 2 * kinds[0].period; /* some of each kind before memory is measured */
    long before = 0;
    for (long round = 0; round < rounds; round++) {
        check_step("round %ld of %ld", round, rounds);
        exchange(round);
        if (round == rounds / 2)
            before = check_status_kib("VmRSS");
    }
    long grown = check_status_kib("VmRSS") - before;
    CHECK(before > 0 && grown < (rounds < SHORT ? POOLS_KIB : GROWTH_KIB) + QUARANTINE_KIB,
          "memory grew by %ld KiB", grown);
    if (check.rank == 0)
        printf("%ld rounds, memory %ld KiB, grown by %ld KiB\n", rounds, before, grown);
    return check_done();
}
