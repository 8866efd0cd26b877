// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of the job: ranks request from each other when they began sends and posted receives, and
 * split the time of long calls: see messages.h.
 *
 * Each rank sends one list of queries to each rank that it has waited for, and receives a list of
 * times in seconds of the clock of rank 0.
 */
#include "tools/profile/messages.h"
#include "core/base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOB_QUERIES = 1 << 22, /* at most */
    RANK_QUERIES = 256,    /* of a rank, at least */
    TAG_QUERIES = 10,
    TAG_TIMES,
    WORDS = 2 /* of a query */
};

/* A query as it is sent: the channel, and the number of the message with the end. */
struct asked {
    uint64_t key, message;
};

/* Queries of this rank by peer, and the requests of their exchange. */
struct lists {
    int *n, *at; /* of each peer */
    struct asked *asked;
    double *times;
    int *index; /* of asked in the list of queries */
    int requests, space;
    MPI_Request *request;
    int answers;
    double **answer;
};

static void free_lists(struct lists *lists)
{
    for (int i = 0; i < lists->answers; i++)
        free(lists->answer[i]);
    free(lists->answer);
    free(lists->request);
    free(lists->n);
    free(lists->asked);
    free(lists->times);
    free(lists->index);
}

/* ---- Answers */

static int by_channel(const void *a, const void *b)
{
    const struct profile_post *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

/* The last post of the channel that is not behind the message; NAN: there is none. */
static double answer(const struct asked *asked)
{
    enum profile_end end = (enum profile_end)(asked->message >> 32);
    uint32_t number = (uint32_t)asked->message;
    const struct profile_post *posts = profile_messages.post[end];
    int low = 0, high = profile_messages.n[end];
    while (low < high) {
        int middle = low + (high - low) / 2;
        const struct profile_post *post = &posts[middle];
        if (post->key < asked->key || (post->key == asked->key && post->n <= number))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && posts[low - 1].key == asked->key
               ? profile_time(profile.clock, posts[low - 1].ticks)
               : (double)NAN;
}

/* ---- Exchange */

static MPI_Request *new_request(struct lists *lists)
{
    weft_assert(lists->requests < lists->space);
    return &lists->request[lists->requests++];
}

static void sort_by_peer(struct lists *lists)
{
    int *next = tool_allocate((size_t)profile.size, sizeof *next);
    for (int i = 0; i < profile_messages.queries; i++)
        lists->n[profile_messages.query[i].peer]++;
    for (int i = 1; i < profile.size; i++)
        lists->at[i] = lists->at[i - 1] + lists->n[i - 1];
    memcpy(next, lists->at, (size_t)profile.size * sizeof *next);
    for (int i = 0; i < profile_messages.queries; i++) {
        const struct profile_query *query = &profile_messages.query[i];
        weft_assert(query->peer >= 0 && query->peer < profile.size);
        int at = next[query->peer]++;
        lists->asked[at] = (struct asked){query->key, (uint64_t)query->asks_for << 32 | query->n};
        lists->index[at] = i;
    }
    weft_assert(next[profile.size - 1] == profile_messages.queries);
    free(next);
}

static void send_queries(struct lists *lists)
{
    for (int peer = 0; peer < profile.size; peer++) {
        int n = lists->n[peer], at = lists->at[peer];
        if (!n)
            continue;
        weft_next.Irecv(lists->times + at, n, MPI_DOUBLE, peer, TAG_TIMES, profile.channel,
                        new_request(lists));
        weft_next.Isend(lists->asked + at, n * WORDS, MPI_UINT64_T, peer, TAG_QUERIES,
                        profile.channel, new_request(lists));
    }
}

/* Answers the queries of one rank. False: communication failed. */
static bool answer_one(struct lists *lists)
{
    MPI_Status status;
    int words = 0;
    if (weft_next.Probe(MPI_ANY_SOURCE, TAG_QUERIES, profile.channel, &status))
        return false;
    weft_next.Get_count(&status, MPI_UINT64_T, &words);
    int n = words / WORDS;
    struct asked *asked = tool_allocate((size_t)n, sizeof *asked);
    double *times = tool_allocate((size_t)n, sizeof *times);
    lists->answer[lists->answers++] = times;
    bool ok = !weft_next.Recv(asked, words, MPI_UINT64_T, status.MPI_SOURCE, TAG_QUERIES,
                              profile.channel, MPI_STATUS_IGNORE);
    for (int i = 0; ok && i < n; i++)
        times[i] = answer(&asked[i]);
    free(asked);
    return ok && !weft_next.Isend(times, n, MPI_DOUBLE, status.MPI_SOURCE, TAG_TIMES,
                                  profile.channel, new_request(lists));
}

/* Only ranks that have waited for each other exchange messages. False: communication failed. */
static bool exchange(struct lists *lists)
{
    size_t n = (size_t)profile.size, queries = (size_t)profile_messages.queries;
    int *asks = tool_allocate(n, sizeof *asks), peers = 0, askers = 0;
    lists->n = tool_allocate(n * 2, sizeof(int));
    lists->at = lists->n + n;
    lists->asked = tool_allocate(queries, sizeof *lists->asked);
    lists->times = tool_allocate(queries, sizeof *lists->times);
    lists->index = tool_allocate(queries, sizeof *lists->index);
    sort_by_peer(lists);
    for (int i = 0; i < profile.size; i++) {
        asks[i] = lists->n[i] > 0;
        peers += asks[i];
    }
    bool ok = !weft_next.Reduce_scatter_block(asks, &askers, 1, MPI_INT, MPI_SUM, profile.channel);
    free(asks);
    if (!ok)
        return false;
    lists->space = 2 * peers + askers;
    lists->request = tool_allocate((size_t)lists->space, sizeof *lists->request);
    lists->answer = tool_allocate((size_t)askers, sizeof *lists->answer);
    if (askers)
        for (int end = 0; end < PROFILE_ENDS; end++)
            qsort(profile_messages.post[end], (size_t)profile_messages.n[end],
                  sizeof(struct profile_post), by_channel);
    send_queries(lists);
    for (int i = 0; ok && i < askers; i++)
        ok = answer_one(lists);
    return ok && !weft_next.Waitall(lists->requests, lists->request, MPI_STATUSES_IGNORE);
}

/* ---- Split */

/* Adds the time until the last other end that began inside the call. */
static void split(const struct profile_long *call, const double *times, double *late)
{
    double begin = profile_time(profile.clock, call->begin);
    double end = profile_time(profile.clock, call->begin + call->ticks);
    double last = begin;
    const struct profile_query *of = NULL;
    for (int i = call->first; i < call->first + call->queries; i++)
        if (times[i] > last && times[i] <= end) { /* false for NAN */
            last = times[i];
            of = &profile_messages.query[i];
        }
    if (!of)
        return;
    call->slot->late[of->asks_for] += last - begin;
    late[of->peer / profile.fold] += last - begin;
    profile_vote(&call->slot->late_most, of->peer, last - begin);
}

void profile_vote(struct profile_vote *vote, int rank, double weight)
{
    if (vote->rank == rank || vote->weight == 0) {
        vote->rank = rank;
        vote->weight += weight;
    } else if (vote->weight >= weight) {
        vote->weight -= weight;
    } else {
        vote->rank = rank;
        vote->weight = weight - vote->weight;
    }
}

bool profile_late_split(double *late)
{
    int own = profile.one_thread, all = 0;
    int most = JOB_QUERIES / profile.size;
    struct lists lists = {0};
    if (weft_next.Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, profile.channel) || !all)
        return false;
    profile_longs_thin(most > RANK_QUERIES ? most : RANK_QUERIES);
    bool ok = exchange(&lists);
    if (ok) {
        double *times = tool_allocate((size_t)profile_messages.queries, sizeof *times);
        for (int i = 0; i < profile_messages.queries; i++)
            times[lists.index[i]] = lists.times[i];
        for (int i = 0; i < profile_messages.longs; i++)
            split(&profile_messages.longest[i], times, late);
        free(times);
    }
    free_lists(&lists);
    return ok;
}
