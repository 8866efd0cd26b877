// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=120
/*
 * 100000 messages of 8 bytes to 64 KiB, 400 MB together, lie unexpected at a rank that waits for
 * one sent behind them. What the receiver's memory grows by is bounded by the credits it gives, and
 * then all of them arrive, in order, with the right contents. The credits are back by then, and
 * what the messages took is free: as many once more take it again and nothing further.
 */
#include "check.h"

#include <inttypes.h>

enum { MESSAGES = 100000, LARGEST = 65536, DISTINCT = 61, TAG = 1, LAST = 2, AT_ONCE = 100 };

/* What a message that waits for its receive may cost whatever its length, announced or short; and
 * what the provider may hold beside it: 512 messages in buffers of 64 KiB each, and over verbs the
 * 512 buffers of 16 KiB that ofi_rxm posts for the connection. */
enum { EACH = 320, BESIDE = (512 << 16) + (512 << 14) };

/* What the second flood may stand above the first: buffers of the provider that the first one did
 * not reach, and how the allocator cuts its memory. A loss of 170 bytes a message shows. */
enum { AGAIN = 16 << 20 };

static int size_of(int i)
{
    return i % 20 == 7 ? 65536 : i % 20 == 12 ? 15000 : i % 20 == 17 ? 1000 : i % 20 == 2 ? 40 : 8;
}

static int64_t credits(void)
{
    int megabytes = check_setting("WEFT_EAGER_CREDITS", 0); /* "1M" */
    return (int64_t)(megabytes ? megabytes : 8) << 20;
}

static void send(int peer, int round)
{
    static unsigned char out[DISTINCT][LARGEST];
    static MPI_Request requests[MESSAGES];
    for (int k = 0; k < DISTINCT; k++) {
        check_fill(out[k], LARGEST, check.rank, round, k);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Isend(out[i % DISTINCT], size_of(i), MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    check_step("round %d: the last send", round);
    MPI_Send(NULL, 0, MPI_BYTE, peer, LAST, MPI_COMM_WORLD);
    check_step("round %d: waiting for all sends", round);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

/* Returns the memory of this process while all messages lie there. */
static int64_t receive(int peer, int round)
{
    static unsigned char in[AT_ONCE][LARGEST];
    memset(in, 0, sizeof in);
    int64_t before = check_resident(), all = 0;
    check_step("round %d: waiting for the last message", round);
    MPI_Recv(NULL, 0, MPI_BYTE, peer, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int64_t flooded = check_resident(), growth = flooded - before;
    int64_t allowed = 2 * credits() + MESSAGES * EACH + BESIDE;
    for (int i = 0; i < MESSAGES; i += AT_ONCE) {
        MPI_Request requests[AT_ONCE];
        MPI_Status st[AT_ONCE];
        int count = MESSAGES - i < AT_ONCE ? MESSAGES - i : AT_ONCE;
        check_step("round %d: message %d", round, i);
        for (int k = 0; k < count; k++) {
            MPI_Irecv(in[k], LARGEST, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[k]);
        }
        MPI_Waitall(count, requests, st);
        for (int k = 0; k < count; k++) {
            int bytes = size_of(i + k);
            CHECK_STATUS(st[k], peer, TAG, bytes);
            CHECK_DATA(in[k], (size_t)bytes, peer, round, (i + k) % DISTINCT);
            all += bytes;
        }
    }
    printf("round %d: %d unexpected messages of %" PRId64 " MB grew the receiver by %.1f MB, "
           "allowed are %.1f\n",
           round, MESSAGES, all / 1000000, (double)growth / 1e6, (double)allowed / 1e6);
    fflush(stdout);
    CHECK(growth <= allowed,
          "%d unexpected messages grew the receiver by %" PRId64 " bytes, more than %" PRId64,
          MESSAGES, growth, allowed);
    return flooded;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    if (peer < check.size && check.rank & 1) {
        int64_t first = receive(peer, 0), second = receive(peer, 1);
        CHECK(second <= first + AGAIN,
              "the receiver has %" PRId64 " bytes in the second flood, %" PRId64 " in the first",
              second, first);
    } else if (peer < check.size) {
        send(peer, 0);
        send(peer, 1);
    }
    return check_done();
}
