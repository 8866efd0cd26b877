// SPDX-License-Identifier: BSD-3-Clause
/*
 * The channel: see channel.h.
 */
#include "tools/check/channel.h"
#include "tools/check/check.h"
#include "tools/check/deadlocks.h"
#include "tools/check/repeats.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* A record that is being sent; the oldest first. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    struct check_record record;
};

static struct {
    pthread_mutex_t lock;
    struct outgoing *first, **end;
    MPI_Request receive; /* always posted, from the begin to the finish */
    struct check_record arrived;
    int64_t *sent; /* records to each rank */
    int64_t received;
} channel = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .end = &channel.first};

void (*check_channel_take[CHECK_RECORDS])(const struct check_record *record);

static void post(void)
{
    weft_next.Irecv(&channel.arrived, (int)sizeof channel.arrived, MPI_BYTE, MPI_ANY_SOURCE,
                    CHECK_RECORD_TAG, check.channel, &channel.receive);
}

void check_channel_begin(void)
{
    channel.sent = weft_interpose_allocate((size_t)check.size, sizeof *channel.sent);
    check_repeats_begin();
    post();
}

void check_channel_send(int rank, struct check_record *record)
{
    weft_assert(rank >= 0 && rank < check.size && record->kind < CHECK_RECORDS);
    record->rank = check.rank;
    if (record->kind != CHECK_RECORD_MESSAGE || record->message.is_void)
        check_repeats_flush(rank);
    if (rank == check.rank) {
        check_channel_take[record->kind](record);
        return;
    }
    struct outgoing *outgoing = weft_interpose_allocate(1, sizeof *outgoing);
    outgoing->record = *record;
    check_mutex_lock(&channel.lock);
    weft_next.Isend(&outgoing->record, (int)sizeof outgoing->record, MPI_BYTE, rank,
                    CHECK_RECORD_TAG, check.channel, &outgoing->request);
    *channel.end = outgoing;
    channel.end = &outgoing->next;
    channel.sent[rank]++;
    check_mutex_unlock(&channel.lock);
}

/* Releases the records that have been sent. The channel's lock is held. */
static void release_sent(void)
{
    int done = 1;
    weft_assert(!*channel.end && !channel.first == (channel.end == &channel.first));
    while (channel.first && done) {
        struct outgoing *first = channel.first;
        weft_next.Test(&first->request, &done, MPI_STATUS_IGNORE);
        if (!done)
            break;
        channel.first = first->next;
        if (!channel.first)
            channel.end = &channel.first;
        free(first);
    }
}

/* False: the record is not one of this library: its numbers are indices. */
static bool is_record(const struct check_record *record, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    weft_next.Get_count_c(status, MPI_BYTE, &bytes);
    if (bytes != (MPI_Count)sizeof *record || record->kind >= CHECK_RECORDS ||
        record->rank != status->MPI_SOURCE || (unsigned)record->call >= WEFT_CALLS)
        return false;
    return record->kind != CHECK_RECORD_EDGE ||
           (record->edge.other >= 0 && record->edge.other < check.size &&
            (unsigned)record->edge.call < WEFT_CALLS);
}

void check_channel_poll(void)
{
    if (check.several_threads && pthread_mutex_trylock(&channel.lock)) /* another thread polls */
        return;
    release_sent();
    for (;;) {
        int done = 0;
        MPI_Status status;
        weft_next.Test(&channel.receive, &done, &status);
        if (!done)
            break;
        const struct check_record record = channel.arrived;
        const bool is_valid = is_record(&record, &status);
        channel.received++;
        post();
        if (is_valid)
            check_channel_take[record.kind](&record);
    }
    check_mutex_unlock(&channel.lock);
}

void check_channel_pause(int round)
{
    const struct timespec pause = {.tv_nsec = 20000};
    if (round % 8 == 7 || round >= CHECK_SPINS)
        check_channel_poll();
    if (round == CHECK_SPINS)
        check_repeats_flush(-1);
    if (round > 2 * CHECK_SPINS)
        nanosleep(&pause, NULL);
    else if (round > CHECK_SPINS)
        sched_yield();
}

void check_channel_finish(void)
{
    int64_t expected = 0;
    int all = 0;
    MPI_Request barrier;
    check_repeats_flush(-1);
    check_deadlocks_finalize(true);
    weft_next.Ibarrier(check.channel, &barrier);
    for (int round = 0; !all; round++) {
        check_channel_pause(round);
        weft_next.Test(&barrier, &all, MPI_STATUS_IGNORE);
    }
    check_deadlocks_finalize(false);
    weft_next.Reduce_scatter_block(channel.sent, &expected, 1, MPI_INT64_T, MPI_SUM, check.channel);
    for (int round = 0; channel.received < expected || channel.first; round++)
        check_channel_pause(round);
    weft_next.Cancel(&channel.receive);
    weft_next.Wait(&channel.receive, MPI_STATUS_IGNORE);
    free(channel.sent);
    check_repeats_finish();
}
