// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of the job: ranks request from each other when they began sends and posted receives, and
 * split the time of long calls: see messages.h.
 *
 * Each rank sends one list of queries to each other rank, and receives a list of times in seconds
 * of the clock of rank 0.
 */
#include "tools/profile/messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_QUERIES = 1 << 22, RANK_QUERIES = 256 }; /* at most; at least, of a rank */

/* A query as it is sent: the channel, and the number of the message with the end. */
struct asked {
    uint64_t key, message;
};

/* Counts and displacements of both directions, in queries. */
struct lists {
    int *out, *out_at, *in, *in_at;
    int n_out, n_in;
    struct asked *asked_out, *asked_in;
    double *times_out, *times_in;
    int *index; /* of asked_out in the list of queries */
};

static void *allocate(size_t n, size_t each)
{
    void *memory = calloc(n + 1, each);
    if (!memory)
        abort();
    return memory;
}

static void free_lists(struct lists *lists)
{
    free(lists->out);
    free(lists->asked_out);
    free(lists->asked_in);
    free(lists->times_out);
    free(lists->times_in);
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
    return low > 0 && posts[low - 1].key == asked->key ? profile_time_of(posts[low - 1].ticks)
                                                       : (double)NAN;
}

static void answer_all(struct lists *lists)
{
    if (lists->n_in)
        for (int end = 0; end < PROFILE_ENDS; end++)
            qsort(profile_messages.post[end], (size_t)profile_messages.n[end],
                  sizeof(struct profile_post), by_channel);
    for (int i = 0; i < lists->n_in; i++)
        lists->times_in[i] = answer(&lists->asked_in[i]);
}

/* ---- Exchange */

static int add_up(const int *counts, int *at)
{
    int64_t sum = 0;
    for (int i = 0; i < profile.size; i++) {
        at[i] = (int)sum;
        sum += counts[i];
    }
    return sum < INT32_MAX / 4 ? (int)sum : -1;
}

static void sort_by_peer(struct lists *lists)
{
    int *next = allocate((size_t)profile.size, sizeof *next);
    memcpy(next, lists->out_at, (size_t)profile.size * sizeof *next);
    for (int i = 0; i < profile_messages.queries; i++) {
        const struct profile_query *query = &profile_messages.query[i];
        int at = next[query->peer]++;
        lists->asked_out[at] =
            (struct asked){query->key, (uint64_t)query->asks_for << 32 | query->n};
        lists->index[at] = i;
    }
    free(next);
}

/* False: communication failed. */
static bool exchange(struct lists *lists)
{
    size_t n = (size_t)profile.size;
    MPI_Datatype pair;
    lists->out = allocate(n * 4, sizeof(int));
    lists->out_at = lists->out + n;
    lists->in = lists->out_at + n;
    lists->in_at = lists->in + n;
    for (int i = 0; i < profile_messages.queries; i++)
        lists->out[profile_messages.query[i].peer]++;
    if (weft_next.Alltoall(lists->out, 1, MPI_INT, lists->in, 1, MPI_INT, profile.channel))
        return false;
    lists->n_out = add_up(lists->out, lists->out_at);
    lists->n_in = add_up(lists->in, lists->in_at);
    if (lists->n_in < 0)
        abort(); /* more than JOB_QUERIES and RANK_QUERIES allow */
    lists->asked_out = allocate((size_t)lists->n_out, sizeof *lists->asked_out);
    lists->asked_in = allocate((size_t)lists->n_in, sizeof *lists->asked_in);
    lists->times_out = allocate((size_t)lists->n_out, sizeof *lists->times_out);
    lists->times_in = allocate((size_t)lists->n_in, sizeof *lists->times_in);
    lists->index = allocate((size_t)lists->n_out, sizeof *lists->index);
    sort_by_peer(lists);
    weft_next.Type_contiguous(2, MPI_UINT64_T, &pair);
    weft_next.Type_commit(&pair);
    bool ok = !weft_next.Alltoallv(lists->asked_out, lists->out, lists->out_at, pair,
                                   lists->asked_in, lists->in, lists->in_at, pair, profile.channel);
    weft_next.Type_free(&pair);
    if (!ok)
        return false;
    answer_all(lists);
    return !weft_next.Alltoallv(lists->times_in, lists->in, lists->in_at, MPI_DOUBLE,
                                lists->times_out, lists->out, lists->out_at, MPI_DOUBLE,
                                profile.channel);
}

/* ---- Split */

/* Adds the time until the last other end that began inside the call. */
static void split(const struct profile_long *call, const double *times, double *late)
{
    double begin = profile_time_of(call->begin), end = profile_time_of(call->begin + call->ticks);
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
        double *times = allocate((size_t)profile_messages.queries, sizeof *times);
        for (int i = 0; i < lists.n_out; i++)
            times[lists.index[i]] = lists.times_out[i];
        for (int i = 0; i < profile_messages.longs; i++)
            split(&profile_messages.longest[i], times, late);
        free(times);
    }
    free_lists(&lists);
    return ok;
}
