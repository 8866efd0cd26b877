// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft seconds=120
/*
 * 100000 messages of 8 bytes to 64 KiB, 400 MB together, lie unexpected at a rank that waits for
 * one sent behind them. What the receiver's memory grows by is bounded by the credits it gives, and
 * then all of them arrive, in order, with the right contents. The credits are back by then: some
 * more such messages grow nothing further.
 */
#include "check.h"

#include <inttypes.h>

enum {
    MESSAGES = 100000,
    AGAIN = 10000,
    LARGEST = 65536,
    DISTINCT = 61,
    TAG = 1,
    LAST = 2,
    AT_ONCE = 100
};

/* What a message that waits for its receive may cost whatever its length, announced or short; and
 * what the provider may hold beside it: 512 messages in buffers of 64 KiB each, and over verbs the
 * 512 buffers of 16 KiB that ofi_rxm posts for the connection. */
enum { EACH = 320, BESIDE = (512 << 16) + (512 << 14) };

static int size_of(int i)
{
    return i % 20 == 7 ? 65536 : i % 20 == 12 ? 15000 : i % 20 == 17 ? 1000 : i % 20 == 2 ? 40 : 8;
}

static int64_t resident(void)
{
    long kib = check_status_kib("VmRSS");
    CHECK(kib > 0, "VmRSS of /proc/self/status cannot be read");
    return (int64_t)kib << 10;
}

static int64_t credits(void)
{
    int megabytes = check_setting("WEFT_EAGER_CREDITS", 0); /* "1M" */
    return (int64_t)(megabytes ? megabytes : 8) << 20;
}

static void send(int peer, int round, int messages)
{
    static unsigned char out[DISTINCT][LARGEST];
    static MPI_Request requests[MESSAGES];
    for (int k = 0; k < DISTINCT; k++) {
        check_fill(out[k], LARGEST, check.rank, round, k);
    }
    for (int i = 0; i < messages; i++) {
        MPI_Isend(out[i % DISTINCT], size_of(i), MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    check_step("round %d: the last send", round);
    MPI_Send(NULL, 0, MPI_BYTE, peer, LAST, MPI_COMM_WORLD);
    check_step("round %d: waiting for all sends", round);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
}

static void receive(int peer, int round, int messages)
{
    static unsigned char in[AT_ONCE][LARGEST];
    memset(in, 0, sizeof in);
    int64_t before = resident(), all = 0;
    check_step("round %d: waiting for the last message", round);
    MPI_Recv(NULL, 0, MPI_BYTE, peer, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int64_t growth = resident() - before, allowed = 2 * credits() + messages * EACH + BESIDE;
    for (int i = 0; i < messages; i += AT_ONCE) {
        MPI_Request requests[AT_ONCE];
        MPI_Status st[AT_ONCE];
        int count = messages - i < AT_ONCE ? messages - i : AT_ONCE;
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
           round, messages, all / 1000000, (double)growth / 1e6, (double)allowed / 1e6);
    fflush(stdout);
    CHECK(growth <= allowed,
          "%d unexpected messages grew the receiver by %" PRId64 " bytes, more than %" PRId64,
          messages, growth, allowed);
    CHECK(round == 0 || growth <= allowed / 8,
          "such a flood again grew the receiver by %" PRId64 " bytes", growth);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    for (int round = 0; round < 2 && peer < check.size; round++) {
        (check.rank & 1 ? receive : send)(peer, round, round ? AGAIN : MESSAGES);
    }
    return check_done();
}
