// SPDX-License-Identifier: BSD-3-Clause
/* Messages of two ranks: see mortal.h. */
#include "mortal.h"

#include <string.h>

/* A message of a round in which a call failed is received by no other round. */
#define TAG(n) ((n) + 16 * (number + 1))

static MPI_Datatype holes;

static void make_types(void)
{
    MPI_Type_vector(LONGEST / 8, 4, 8, MPI_BYTE, &holes);
    MPI_Type_commit(&holes);
}

static void blocking(void)
{
    int partner = rank ^ (1 + shared_random(size - 1)), bytes = some_bytes();
    int mode = shared_random(3);
    if (partner >= size)
        return;
    fill(out_data, bytes, rank);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == (rank < partner)) {
            if (TRY(MPI_Recv, in_data, bytes, MPI_BYTE, partner, TAG(1), MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE))
                expect(in_data, bytes, partner);
        } else if (mode == 0) {
            TRY(MPI_Send, out_data, bytes, MPI_BYTE, partner, TAG(1), MPI_COMM_WORLD);
        } else if (mode == 1) {
            TRY(MPI_Ssend, out_data, bytes, MPI_BYTE, partner, TAG(1), MPI_COMM_WORLD);
        } else {
            static char buffer[LONGEST + 1000];
            TRY(MPI_Buffer_attach, buffer, sizeof buffer);
            TRY(MPI_Bsend, out_data, bytes, MPI_BYTE, partner, TAG(1), MPI_COMM_WORLD);
            void *detached;
            int n;
            TRY(MPI_Buffer_detach, &detached, &n);
        }
    }
}

/* The receive is posted before its message is requested. */
static void ready(void)
{
    int partner = rank ^ (1 + shared_random(size - 1)), bytes = some_bytes();
    MPI_Request request;
    if (partner >= size)
        return;
    fill(out_data, bytes, rank);
    bool begun =
        TRY(MPI_Irecv, in_data, bytes, MPI_BYTE, partner, TAG(1), MPI_COMM_WORLD, &request);
    TRY(MPI_Sendrecv, NULL, 0, MPI_BYTE, partner, TAG(2), NULL, 0, MPI_BYTE, partner, TAG(2),
        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    TRY(MPI_Rsend, out_data, bytes, MPI_BYTE, partner, TAG(1), MPI_COMM_WORLD);
    if (begun && TRY(MPI_Wait, &request, MPI_STATUS_IGNORE))
        expect(in_data, bytes, partner);
}

static void check_all(int code, int n, const MPI_Status *statuses)
{
    if (code != MPI_ERR_IN_STATUS) {
        check(code);
        return;
    }
    for (int i = 0; i < n; i++)
        if (statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            check(statuses[i].MPI_ERROR);
}

/* Completes requests, some by each of the calls that do. */
static void complete(int n, MPI_Request *requests)
{
    MPI_Status statuses[2 * MOST_RANKS];
    int way = own_random(6), flag = 0, index = 0, count = 0, indices[2 * MOST_RANKS];
    memset(statuses, 0, sizeof statuses);
    for (int i = 0; i < n; i++) {
        if (way == 0)
            TRY(MPI_Wait, &requests[i], MPI_STATUS_IGNORE);
        if (way == 1) {
            call("MPI_Test");
            for (flag = 0; !flag && check(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));)
                ;
        }
        if (way == 2)
            TRY(MPI_Waitany, n, requests, &index, MPI_STATUS_IGNORE);
    }
    if (way == 3) {
        call("MPI_Waitsome");
        for (count = 0; count != MPI_UNDEFINED;)
            check_all(MPI_Waitsome(n, requests, &count, indices, statuses), count, statuses);
    }
    if (way == 5) {
        call("MPI_Testall");
        int code = MPI_SUCCESS;
        for (flag = 0; !flag && code == MPI_SUCCESS;)
            code = MPI_Testall(n, requests, &flag, statuses);
        check_all(code, n, statuses);
    }
    call("MPI_Waitall");
    for (int i = 0; i < 2; i++) /* of some that an error left pending */
        check_all(MPI_Waitall(n, requests, statuses), n, statuses);
}

static void nonblocking(void)
{
    MPI_Request requests[2 * MOST_RANKS];
    int n = 0, bytes = some_bytes() / 4, mode = shared_random(2), with_holes = shared_random(2);
    MPI_Datatype type = with_holes ? holes : MPI_BYTE;
    int items = with_holes ? bytes / LONGEST : bytes;
    for (int i = 0; i < size; i++) {
        char *in = in_data + (size_t)LONGEST * (size_t)i,
             *out = out_data + (size_t)LONGEST * (size_t)i;
        if (i == rank)
            continue;
        requests[n] = requests[n + 1] = MPI_REQUEST_NULL;
        TRY(MPI_Irecv, in, items, type, i, TAG(3), MPI_COMM_WORLD, &requests[n++]);
        if (mode)
            TRY(MPI_Issend, out, items, type, i, TAG(3), MPI_COMM_WORLD, &requests[n++]);
        else
            TRY(MPI_Isend, out, items, type, i, TAG(3), MPI_COMM_WORLD, &requests[n++]);
    }
    complete(n, requests);
}

static void exchange(void)
{
    int shift = 1 + shared_random(size - 1), bytes = some_bytes(), way = shared_random(3);
    int to = (rank + shift) % size, from = (rank + size - shift) % size;
    fill(out_data, bytes, rank);
    memset(in_data, 0, (size_t)bytes);
    if (way == 0) {
        if (TRY(MPI_Sendrecv, out_data, bytes, MPI_BYTE, to, TAG(4), in_data, bytes, MPI_BYTE, from,
                TAG(4), MPI_COMM_WORLD, MPI_STATUS_IGNORE))
            expect(in_data, bytes, from);
    } else if (way == 1) {
        if (TRY(MPI_Sendrecv_replace, out_data, bytes, MPI_BYTE, to, TAG(4), from, TAG(4),
                MPI_COMM_WORLD, MPI_STATUS_IGNORE))
            expect(out_data, bytes, from);
    } else {
        MPI_Request request = MPI_REQUEST_NULL;
        if (TRY(MPI_Isendrecv, out_data, bytes, MPI_BYTE, to, TAG(4), in_data, bytes, MPI_BYTE,
                from, TAG(4), MPI_COMM_WORLD, &request) &&
            TRY(MPI_Wait, &request, MPI_STATUS_IGNORE))
            expect(in_data, bytes, from);
    }
}

static void probe(void)
{
    int shift = 1 + shared_random(size - 1), bytes = some_bytes(), way = shared_random(4);
    int to = (rank + shift) % size, from = (rank + size - shift) % size, flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    bool found;
    fill(out_data, bytes, rank);
    TRY(MPI_Isend, out_data, bytes, MPI_BYTE, to, TAG(5), MPI_COMM_WORLD, &request);
    if (way == 0) {
        found = TRY(MPI_Probe, from, TAG(5), MPI_COMM_WORLD, &status);
    } else if (way == 1) {
        found = TRY(MPI_Mprobe, from, TAG(5), MPI_COMM_WORLD, &message, &status);
    } else {
        call(way == 2 ? "MPI_Iprobe" : "MPI_Improbe");
        do
            found = check(
                way == 2 ? MPI_Iprobe(from, TAG(5), MPI_COMM_WORLD, &flag, &status)
                         : MPI_Improbe(from, TAG(5), MPI_COMM_WORLD, &flag, &message, &status));
        while (found && !flag);
    }
    if (found && (way & 1 ? TRY(MPI_Mrecv, in_data, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE)
                          : TRY(MPI_Recv, in_data, bytes, MPI_BYTE, from, TAG(5), MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE)))
        expect(in_data, bytes, from);
    TRY(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    static MPI_Request requests[2 * MOST_RANKS];
    static int n, bytes;
    if (number % 8 == 0) {
        bytes = some_bytes() / 4;
        n = 0;
        for (int i = 0; i < size; i++) {
            if (i == rank)
                continue;
            requests[n] = requests[n + 1] = MPI_REQUEST_NULL;
            TRY(MPI_Recv_init, in_data + (size_t)LONGEST * (size_t)i, bytes, MPI_BYTE, i, TAG(6),
                MPI_COMM_WORLD, &requests[n++]);
            TRY(MPI_Ssend_init, out_data, bytes, MPI_BYTE, i, TAG(6), MPI_COMM_WORLD,
                &requests[n++]);
        }
    }
    for (int i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            TRY(MPI_Start, &requests[i]);
    complete(n, requests);
    for (int i = 0; i < n && number % 8 == 7; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            TRY(MPI_Request_free, &requests[i]);
}

static void partitioned(void)
{
    enum { PARTITIONS = 4 };
    int shift = 1 + shared_random(size - 1), count = some_bytes() / 8, flag = 0;
    int to = (rank + shift) % size, from = (rank + size - shift) % size;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    TRY(MPI_Psend_init, out_data, PARTITIONS, count, MPI_BYTE, to, TAG(7), MPI_COMM_WORLD,
        MPI_INFO_NULL, &requests[0]);
    TRY(MPI_Precv_init, in_data, PARTITIONS, count, MPI_BYTE, from, TAG(7), MPI_COMM_WORLD,
        MPI_INFO_NULL, &requests[1]);
    for (int turn = 0; turn < 2; turn++) {
        bool first = requests[0] != MPI_REQUEST_NULL && TRY(MPI_Start, &requests[0]);
        bool second = requests[1] != MPI_REQUEST_NULL && TRY(MPI_Start, &requests[1]);
        for (int i = 0; i < PARTITIONS && first; i++)
            TRY(MPI_Pready, (i * 3) % PARTITIONS, requests[0]);
        call("MPI_Parrived");
        for (flag = !turn; second && !flag && check(MPI_Parrived(requests[1], 2, &flag));)
            ;
        if (first)
            TRY(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
        if (second)
            TRY(MPI_Wait, &requests[1], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            TRY(MPI_Request_free, &requests[i]);
}

/* Cancels what cannot match, and what the other rank may be about to match. */
static void cancel(void)
{
    int shift = 1 + shared_random(size - 1), bytes = some_bytes();
    int to = (rank + shift) % size, from = (rank + size - shift) % size;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    TRY(MPI_Irecv, in_data, bytes, MPI_BYTE, from, TAG(8), MPI_COMM_WORLD, &requests[0]);
    TRY(MPI_Isend, out_data, bytes, MPI_BYTE, to, TAG(9), MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            TRY(MPI_Cancel, &requests[i]);
    call("MPI_Waitall");
    memset(statuses, 0, sizeof statuses);
    check_all(MPI_Waitall(2, requests, statuses), 2, statuses);
}

const struct act p2p_acts[] = {{"send", NULL, blocking, NULL, 2},
                               {"ready", NULL, ready, NULL, 2},
                               {"isend", make_types, nonblocking, NULL, 2},
                               {"sendrecv", NULL, exchange, NULL, 2},
                               {"probe", NULL, probe, NULL, 2},
                               {"persistent", NULL, persistent, NULL, 2},
                               {"partitioned", NULL, partitioned, NULL, 2},
                               {"cancel", NULL, cancel, NULL, 2},
                               {NULL, NULL, NULL, NULL, 0}};
