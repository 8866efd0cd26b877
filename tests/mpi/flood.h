// SPDX-License-Identifier: BSD-3-Clause
/*
 * The body of the unexpected_flood tests: many small messages lie unexpected at a rank, then they
 * are received in order, and a second time in the reverse order of their tags.
 */
#ifndef WEFT_TESTS_FLOOD_H
#define WEFT_TESTS_FLOOD_H

#include "check.h"

enum { FLOOD_IN_ORDER = 1, FLOOD_BYTES = 48, FLOOD_LAST = 30000 };

static int flood_size(int i)
{
    return i % FLOOD_BYTES;
}

/* Sends messages of tag FLOOD_IN_ORDER, or of tag i each, then one of tag FLOOD_LAST. */
static void flood_send(int peer, int messages, bool one_tag)
{
    unsigned char *out = check_alloc((size_t)messages * FLOOD_BYTES);
    MPI_Request *requests = check_host((size_t)messages * sizeof *requests);
    for (int i = 0; i < messages; i++) {
        int tag = one_tag ? FLOOD_IN_ORDER : i;
        unsigned char *buf = out + (size_t)i * FLOOD_BYTES;
        check_fill(buf, (size_t)flood_size(i), check.rank, tag, i);
        MPI_Isend(buf, flood_size(i), MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[i]);
    }
    check_step("waiting for %d sends", messages);
    MPI_Send(NULL, 0, MPI_BYTE, peer, FLOOD_LAST, MPI_COMM_WORLD);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(requests);
}

static void flood_receive(int peer, int messages, bool one_tag)
{
    unsigned char in[FLOOD_BYTES];
    for (int k = 0; k < messages; k++) {
        int i = one_tag ? k : messages - 1 - k, tag = one_tag ? FLOOD_IN_ORDER : i;
        MPI_Status st;
        MPI_Recv(in, FLOOD_BYTES, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, peer, tag, flood_size(i));
        CHECK_DATA(in, (size_t)flood_size(i), peer, tag, i);
    }
}

/* Even ranks flood the next odd one, which looks away until the last message has been sent. */
static int flood_main(int argc, char **argv, int messages)
{
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    for (int one_tag = 1; one_tag >= 0 && peer < check.size; one_tag--) {
        check_step("%d messages, %s", messages, one_tag ? "in order" : "in reverse order of tags");
        if (check.rank & 1) {
            /* This one was sent behind all the others. */
            MPI_Recv(NULL, 0, MPI_BYTE, peer, FLOOD_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            flood_receive(peer, messages, one_tag);
        } else {
            flood_send(peer, messages, one_tag);
        }
    }
    return check_done();
}

#endif
