// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=60
/*
 * Messages of every size up to the eager limit and a little past it arrive before their receives
 * and are whole, received in order and in reverse: a provider may keep them in buffers that are
 * smaller than they are. And a rank that has opened the network holds little memory before that:
 * over tcp;ofi_rxm it was 75 MB once. On an adapter ofi_rxm's buffers are registered, and so
 * resident from the first message on: 1024 of 16 KiB for receives and as many for sends, each with
 * a few hundred bytes of its own.
 */
#include "check.h"

enum { MESSAGES = 200, LONGEST = 270000, ROUNDS = 4, LAST = MESSAGES };
enum { MOST_KIB = 32 << 10, REGISTERED_KIB = 2 * 1024 * (16 + 1) };

static long most_kib(void)
{
    const char *provider = getenv("WEFT_PROVIDER");
    bool adapter = provider && strncmp(provider, "verbs", 5) == 0;
    return check_setting("WEFT_TEST_RESIDENT_KIB", MOST_KIB) + (adapter ? REGISTERED_KIB : 0);
}

/* Sizes that differ from round to round, short and long ones in turn. */
static int size_of(int round, int i)
{
    unsigned mixed = ((unsigned)(round * MESSAGES + i) * 2654435761u) >> 8;
    return (int)(mixed % (i % 3 ? LONGEST : 5000));
}

static void send_all(int round)
{
    MPI_Request requests[MESSAGES];
    unsigned char *out[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        int size = size_of(round, i);
        out[i] = check_alloc((size_t)size + 1);
        check_fill(out[i], (size_t)size, check.rank, i, round);
        MPI_Isend(out[i], size, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        free(out[i]);
}

static void receive_all(int round)
{
    unsigned char *in = check_alloc(LONGEST);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* behind the others */
    for (int k = 0; k < MESSAGES; k++) {
        int i = round & 1 ? MESSAGES - 1 - k : k, size = size_of(round, i);
        MPI_Status st;
        MPI_Recv(in, LONGEST, MPI_BYTE, 0, i, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, 0, i, size);
        CHECK_DATA(in, (size_t)size, 0, i, round);
    }
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    char byte = 0;
    int other = check.rank ^ 1;
    MPI_Sendrecv_replace(&byte, 1, MPI_CHAR, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long most = most_kib();
    if (!getenv("WEFT_TEST_SHORT")) /* memory checkers take their own */
        CHECK(check_peak_kib() > 0 && check_peak_kib() < most,
              "%ld KiB are resident after the first message, at most %ld are expected",
              check_peak_kib(), most);
    for (int round = 0; round < ROUNDS; round++) {
        check_step("round %d of %d", round, (int)ROUNDS);
        if (check.rank == 0)
            send_all(round);
        else if (check.rank == 1)
            receive_all(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
