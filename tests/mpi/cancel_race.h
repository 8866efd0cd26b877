// SPDX-License-Identifier: BSD-3-Clause
/*
 * The body of the cancel_race tests. Cancels race against receives: even ranks send messages in
 * windows, in every mode that needs no receive before, persistent or not, and cancel some at
 * random; odd ranks receive whatever comes, in several ways, and cancel receives too. At the end
 * every message was either cancelled or received, none twice, none never. Then the roles change.
 * WEFT_TEST_MESSAGES sets how many messages each way, WEFT_TEST_SEED repeats a run.
 */
#ifndef WEFT_TESTS_CANCEL_RACE_H
#define WEFT_TESTS_CANCEL_RACE_H

#include "check.h"

enum { WINDOW = 16, LARGEST = 70000, TAGS = 3, END = TAGS, LISTS = TAGS + 1, NOTHING = TAGS + 2 };

static unsigned char out[WINDOW][LARGEST], in[LARGEST];
static unsigned char buffer[WINDOW * (LARGEST + MPI_BSEND_OVERHEAD)];
static unsigned char *cancelled, *received;

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Starts a send of a random mode; a persistent one's request stays when it has ended. */
static void start(void *from, int bytes, int peer, uint64_t *seed, MPI_Request *request)
{
    static send_function *const sends[] = {MPI_Isend,     MPI_Isend,      MPI_Issend,    MPI_Ibsend,
                                           MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init};
    enum { SENDS = sizeof sends / sizeof sends[0], PERSISTENT = 4 };
    unsigned kind = check_random(seed, SENDS);
    int tag = (int)check_random(seed, TAGS);
    sends[kind](from, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
    if (kind >= PERSISTENT) {
        MPI_Start(request);
    }
}

static void send_all(int peer, int messages, uint64_t seed)
{
    static const int sizes[] = {8, 8, 12, 64, 65, 300, 4000, 20000, LARGEST};
    MPI_Request requests[WINDOW];
    memset(cancelled, 0, (size_t)messages);
    for (int base = 0; base < messages; base += WINDOW) {
        int n = messages - base < WINDOW ? messages - base : WINDOW;
        check_step("sending messages from %d on", base);
        for (int i = 0; i < n; i++) {
            int index = base + i;
            int bytes = sizes[check_random(&seed, check_random(&seed, 8) ? 6 : 9)];
            memcpy(out[i], &index, sizeof index);
            start(out[i], bytes, peer, &seed, &requests[i]);
            if (check_random(&seed, 4) == 0) {
                MPI_Cancel(&requests[i]);
            }
        }
        for (int i = 0; i < n; i++) {
            MPI_Status st;
            int flag;
            if (check_random(&seed, 4) == 0) {
                MPI_Cancel(&requests[i]);
            }
            MPI_Wait(&requests[i], &st);
            MPI_Test_cancelled(&st, &flag);
            cancelled[base + i] = (unsigned char)flag;
            if (requests[i] != MPI_REQUEST_NULL) {
                MPI_Request_free(&requests[i]);
            }
        }
        MPI_Buffer_flush(); /* the next window needs the room */
    }
    MPI_Send(NULL, 0, MPI_BYTE, peer, END, MPI_COMM_WORLD);
    MPI_Send(cancelled, messages, MPI_BYTE, peer, LISTS, MPI_COMM_WORLD);
}

/* Looks the other way, for the cancels to win now and then. */
static void dawdle(int peer, unsigned looks)
{
    while (looks-- > 0) {
        int flag;
        MPI_Iprobe(peer, NOTHING, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/* One message by random means. False when none was taken. */
static bool take(int peer, uint64_t *seed, MPI_Status *st)
{
    MPI_Request request;
    MPI_Message message;
    int flag;
    switch (check_random(seed, 5)) {
    case 0:
        MPI_Recv(in, LARGEST, MPI_BYTE, peer, MPI_ANY_TAG, MPI_COMM_WORLD, st);
        return true;
    case 1:
        MPI_Irecv(in, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        if (check_random(seed, 2)) {
            MPI_Cancel(&request);
        }
        MPI_Wait(&request, st);
        MPI_Test_cancelled(st, &flag);
        return !flag;
    case 2:
        MPI_Irecv(in, LARGEST, MPI_BYTE, peer, (int)check_random(seed, TAGS), MPI_COMM_WORLD,
                  &request);
        MPI_Test(&request, &flag, st);
        if (flag) {
            return true;
        }
        MPI_Cancel(&request);
        MPI_Wait(&request, st);
        MPI_Test_cancelled(st, &flag);
        return !flag;
    case 3:
        dawdle(peer, check_random(seed, 60));
        return false;
    default:
        MPI_Improbe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, st);
        if (flag) {
            MPI_Mrecv(in, LARGEST, MPI_BYTE, &message, st);
        }
        return flag;
    }
}

static void receive_all(int peer, int messages, uint64_t seed)
{
    MPI_Status st;
    int got = 0, gone = 0, odd = 0;
    memset(received, 0, (size_t)messages);
    for (;;) {
        int index = -1;
        check_step("receiving, %d so far", got);
        if (!take(peer, &seed, &st)) {
            continue;
        }
        if (st.MPI_TAG == END) {
            break;
        }
        memcpy(&index, in, sizeof index);
        CHECK(index >= 0 && index < messages && !received[index], "message %d came twice", index);
        if (index >= 0 && index < messages) {
            received[index] = 1;
        }
        got++;
    }
    /* With tags the end may have overtaken nothing: everything left is there by now. */
    for (int flag = 1; flag;) {
        MPI_Message message;
        int index;
        MPI_Improbe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &st);
        if (flag && st.MPI_TAG == LISTS) {
            MPI_Mrecv(cancelled, messages, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            break;
        }
        if (flag) {
            MPI_Mrecv(in, LARGEST, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            memcpy(&index, in, sizeof index);
            received[index]++;
            got++;
        } else {
            flag = 1;
        }
    }
    for (int i = 0; i < messages; i++) {
        gone += cancelled[i];
        odd += cancelled[i] + received[i] != 1;
    }
    CHECK(!odd, "%d of %d messages were not exactly one of cancelled and received", odd, messages);
    CHECK(gone && got, "%d were cancelled and %d received: no race", gone, got);
    printf("%d messages: %d received, %d cancelled\n", messages, got, gone);
}

/* messages: each way between every two ranks, unless the environment says otherwise. */
static int cancel_race(int argc, char **argv, int messages)
{
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    messages = check_setting("WEFT_TEST_MESSAGES", messages);
    uint64_t seed = (uint64_t)check_setting("WEFT_TEST_SEED", (int)(time(NULL) & 0xffffff));
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (check.rank == 0) {
        printf("seed %llu\n", (unsigned long long)seed);
    }
    MPI_Buffer_attach(buffer, sizeof buffer);
    cancelled = malloc((size_t)messages);
    received = malloc((size_t)messages);
    for (int round = 0; round < 2 && peer < check.size; round++) {
        if (check.rank % 2 == round) {
            send_all(peer, messages, seed + (uint64_t)check.rank);
        } else {
            receive_all(peer, messages, seed + 17 + (uint64_t)check.rank);
        }
    }
    free(cancelled);
    free(received);
    return check_done();
}

#endif
