// SPDX-License-Identifier: BSD-3-Clause
/*
 * The body of the tests with 2^20 requests in flight in one pair of processes, or from a process to
 * itself. Each message has a tag of its own, up to MPI_TAG_UB, and the receives take them in
 * another order. Nothing may search through what is queued: that would take hours.
 */
#ifndef WEFT_TESTS_MILLION_H
#define WEFT_TESTS_MILLION_H

#include "check.h"

enum { REQUESTS = 1 << 20, STEP = 699051 /* odd: i -> i * STEP takes every number below 2^20 */ };

static int *values[2]; /* received and sent */
static int tag_ub;

static int shuffled(int i)
{
    return (int)((unsigned)i * STEP % REQUESTS);
}

/* Different for each number, 0 for the first and MPI_TAG_UB for the last. */
static int tag_of(int number)
{
    return number == REQUESTS - 1 ? tag_ub : number * (tag_ub / REQUESTS);
}

static void start_sends(int peer, bool sends_first, MPI_Request *requests)
{
    for (int i = 0; i < REQUESTS; i++) {
        int number = sends_first ? i : shuffled(i);
        values[1][number] = number;
        MPI_Isend(&values[1][number], 1, MPI_INT, peer, tag_of(number), MPI_COMM_WORLD,
                  &requests[i]);
    }
}

static void start_receives(int peer, bool sends_first, MPI_Request *requests)
{
    for (int i = 0; i < REQUESTS; i++) {
        int number = sends_first ? shuffled(i) : i;
        values[0][number] = -1;
        MPI_Irecv(&values[0][number], 1, MPI_INT, peer, tag_of(number), MPI_COMM_WORLD,
                  &requests[i]);
    }
}

static void start(int up, int down, bool sends, bool sends_first, MPI_Request *requests)
{
    check_step("starting %d %s", REQUESTS, sends ? "sends" : "receives");
    if (sends && up >= 0) {
        start_sends(up, sends_first, requests);
    } else if (!sends && down >= 0) {
        start_receives(down, sends_first, requests);
    }
}

/* An even rank sends to the next odd one; a rank alone sends to itself. Between the sends and the
 * receives is a barrier, whose messages no receive of ours can take. */
static int million_main(int argc, char **argv, bool sends_first)
{
    check_begin(&argc, &argv, 1);
    int peer = check.size == 1 ? 0 : check.rank ^ 1, *ub, found;
    int up = check.size == 1 || check.rank % 2 == 0 ? peer : -1;
    int down = check.size == 1 || check.rank % 2 == 1 ? peer : -1;
    MPI_Request *requests[2];
    values[0] = check_alloc(REQUESTS * sizeof **values);
    values[1] = check_alloc(REQUESTS * sizeof **values);
    requests[0] = check_host(REQUESTS * sizeof **requests);
    requests[1] = check_host(REQUESTS * sizeof **requests);
    tag_ub = (1 << 24) - 1;
    check_errors_return();
    if (MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &found) == MPI_SUCCESS && found) {
        tag_ub = *ub;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    start(up, down, sends_first, sends_first, requests[sends_first]);
    MPI_Barrier(MPI_COMM_WORLD);
    start(up, down, !sends_first, sends_first, requests[!sends_first]);
    if (down >= 0) {
        check_step("waiting for all receives");
        MPI_Waitall(REQUESTS, requests[0], MPI_STATUSES_IGNORE);
        for (int i = 0; i < REQUESTS; i++) {
            CHECK(values[0][i] == i, "the receive of tag %d got the value %d, not %d", tag_of(i),
                  values[0][i], i);
        }
    }
    if (up >= 0) {
        check_step("waiting for all sends");
        MPI_Waitall(REQUESTS, requests[1], MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < 2; k++) {
        free(values[k]);
        free(requests[k]);
    }
    return check_done();
}

#endif
