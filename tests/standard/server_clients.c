// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,shm,mixed seconds=60
/*
 * A server and its clients (MPI 5.0, 3.7.5): the last rank keeps a receive posted for each client
 * and handles whichever completes, once with MPI_Waitany and once with MPI_Waitsome. With
 * MPI_Waitsome no client starves: each call returns all that is there, so between two messages of a
 * busy client every other client is looked at.
 */
#include "../mpi/check.h"

enum { TAG = 8, EACH = 60, BYTES = 1000, CLIENTS = 16 };

static unsigned char in[CLIENTS][BYTES];
static MPI_Request requests[CLIENTS];
static int handled[CLIENTS];

static void client(int server)
{
    unsigned char out[BYTES];
    MPI_Request request;
    for (int i = 0; i < EACH; i++) {
        check_fill(out, BYTES, check.rank, TAG, i);
        MPI_Isend(out, BYTES, MPI_BYTE, server, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void post(int c)
{
    MPI_Irecv(in[c], BYTES, MPI_BYTE, c, TAG, MPI_COMM_WORLD, &requests[c]);
}

/* What the server does with the message of client c. */
static void handle(int c, const MPI_Status *st)
{
    CHECK_STATUS(*st, c, TAG, BYTES);
    CHECK_DATA(in[c], BYTES, c, TAG, handled[c]);
    CHECK(requests[c] == MPI_REQUEST_NULL, "a complete request keeps its handle");
    if (++handled[c] < EACH) {
        post(c);
    }
}

static int serve_any(int clients)
{
    MPI_Status st;
    int c;
    MPI_Waitany(clients, requests, &c, &st);
    if (c != MPI_UNDEFINED) {
        handle(c, &st);
    }
    return c != MPI_UNDEFINED;
}

static int serve_some(int clients)
{
    MPI_Status st[CLIENTS];
    int n, indices[CLIENTS];
    MPI_Waitsome(clients, requests, &n, indices, st);
    for (int i = 0; i < n; i++) {
        handle(indices[i], &st[i]);
    }
    return n == MPI_UNDEFINED ? 0 : n;
}

static void server(bool some)
{
    int clients = check.size - 1, total = 0, n;
    for (int c = 0; c < clients; c++) {
        handled[c] = 0;
        post(c);
    }
    while ((n = some ? serve_some(clients) : serve_any(clients)) > 0) {
        total += n;
    }
    CHECK(total == clients * EACH, "%d messages, not %d", total, clients * EACH);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    if (check.size > CLIENTS) {
        fprintf(stderr, "at most %d ranks\n", CLIENTS);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    for (int some = 0; some < 2; some++) {
        check_step(some ? "MPI_Waitsome" : "MPI_Waitany");
        if (check.rank == check.size - 1) {
            server(some);
        } else {
            client(check.size - 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
