// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of the job: ranks request from each other when they began sends and posted receives and
 * when they were absent, and split the time of long calls: see messages.h.
 *
 * Each rank sends one list of queries to each rank that it has waited for, and receives a list of
 * answers. Times are seconds of the clock of rank 0.
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
    TAG_ANSWERS
};

/* A query as it is sent: the channel, the number of the message with the end that is asked for, the
 * begin of the call, and the end of the message. */
struct asked {
    uint64_t key, message;
    double begin, end;
};

/* When the other end began, NAN: it is not known; and the longest time between this, or the begin
 * of the call, and the end of the message in which the rank was absent, 0 to 0: it was not. */
struct answer {
    double began, left, back;
};

/* Queries of this rank by peer, and the requests of their exchange. */
struct lists {
    int *n, *at; /* of each peer */
    struct asked *asked;
    struct answer *answers; /* to them */
    int *index;             /* of asked in the list of queries */
    int requests, space;
    MPI_Request *request;
    int given; /* answers to other ranks, which are being sent */
    struct answer **give;
};

static void free_lists(struct lists *lists)
{
    for (int i = 0; i < lists->given; i++)
        free(lists->give[i]);
    free(lists->give);
    free(lists->request);
    free(lists->n);
    free(lists->asked);
    free(lists->answers);
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

/* The last post of the channel that is not behind the message; NULL: there is none. */
static const struct profile_post *find_post(const struct asked *asked)
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
    return low > 0 && posts[low - 1].key == asked->key ? &posts[low - 1] : NULL;
}

/* Absences that begin before a time. */
static int absences_before(double time)
{
    int low = 0, high = profile_messages.absences;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (profile_time(profile.clock, profile_messages.absence[middle].left) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Messages that this rank sends without the progress of either side after their begin. */
static bool is_eager(uint32_t bytes)
{
    if (bytes == UINT32_MAX || profile.counters[PROFILE_SHM_CREDIT_WAITS] ||
        profile.counters[PROFILE_NET_CREDIT_WAITS])
        return false;
    for (int i = 0; i <= profile_size_index(bytes); i++)
        for (int lane = 0; lane < PROFILE_RENDEZVOUS_LANES; lane++)
            if (profile.rendezvous[lane][i].n)
                return false;
    return true;
}

/* The other end began at most a gap after the time that is known, so a shorter absence may be one
 * before it. */
static struct answer answer(const struct asked *asked)
{
    const struct profile_post *post = asked->message >> 32 < PROFILE_ENDS ? find_post(asked) : NULL;
    struct answer answer = {.began = (double)NAN};
    if (!post)
        return answer;
    answer.began = profile_time(profile.clock, post->ticks);
    bool is_exact = post->n == (uint32_t)asked->message; /* else the bytes are another message's */
    if (asked->message >> 32 == PROFILE_SENDER && is_exact && is_eager(post->bytes))
        return answer;
    double least =
        (double)profile_messages.gap[asked->message >> 32] * profile.clock->seconds_a_tick;
    double from = fmax(asked->begin, answer.began);
    for (int i = absences_before(asked->end); i-- > 0;) {
        const struct profile_absence *absence = &profile_messages.absence[i];
        double left = fmax(from, profile_time(profile.clock, absence->left));
        double back = profile_time(profile.clock, absence->back);
        if (back <= from)
            break;
        if (back <= asked->end && back - left > fmax(least, answer.back - answer.left)) {
            answer.left = left;
            answer.back = back;
        }
    }
    return answer;
}

/* ---- Exchange */

static MPI_Request *new_request(struct lists *lists)
{
    weft_assert(lists->requests < lists->space);
    return &lists->request[lists->requests++];
}

static void add_query(struct lists *lists, int at, int i, const struct profile_long *call)
{
    const struct profile_query *query = &profile_messages.query[i];
    lists->index[at] = i;
    lists->asked[at] = (struct asked){.key = query->key,
                                      .message = (uint64_t)query->asks_for << 32 | query->n,
                                      .begin = profile_time(profile.clock, call->begin),
                                      .end = profile_time(profile.clock, query->until)};
}

static void sort_by_peer(struct lists *lists)
{
    int *next = weft_interpose_allocate((size_t)profile.size, sizeof *next);
    for (int i = 0; i < profile_messages.queries; i++)
        lists->n[profile_messages.query[i].peer]++;
    for (int i = 1; i < profile.size; i++)
        lists->at[i] = lists->at[i - 1] + lists->n[i - 1];
    memcpy(next, lists->at, (size_t)profile.size * sizeof *next);
    for (int j = 0; j < profile_messages.longs; j++) {
        const struct profile_long *call = &profile_messages.longest[j];
        for (int i = call->first; i < call->first + call->queries; i++) {
            int peer = profile_messages.query[i].peer;
            weft_assert(peer >= 0 && peer < profile.size);
            add_query(lists, next[peer]++, i, call);
        }
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
        weft_next.Irecv(lists->answers + at, n * (int)sizeof *lists->answers, MPI_BYTE, peer,
                        TAG_ANSWERS, profile.channel, new_request(lists));
        weft_next.Isend(lists->asked + at, n * (int)sizeof *lists->asked, MPI_BYTE, peer,
                        TAG_QUERIES, profile.channel, new_request(lists));
    }
}

/* Answers the queries of one rank. False: communication failed. */
static bool answer_one(struct lists *lists)
{
    MPI_Status status;
    int bytes = 0;
    if (weft_next.Probe(MPI_ANY_SOURCE, TAG_QUERIES, profile.channel, &status))
        return false;
    weft_next.Get_count(&status, MPI_BYTE, &bytes);
    int n = bytes / (int)sizeof(struct asked);
    struct asked *asked = weft_interpose_allocate((size_t)n, sizeof *asked);
    struct answer *give = weft_interpose_allocate((size_t)n, sizeof *give);
    lists->give[lists->given++] = give;
    bool ok = !weft_next.Recv(asked, bytes, MPI_BYTE, status.MPI_SOURCE, TAG_QUERIES,
                              profile.channel, MPI_STATUS_IGNORE);
    for (int i = 0; ok && i < n; i++)
        give[i] = answer(&asked[i]);
    free(asked);
    return ok && !weft_next.Isend(give, n * (int)sizeof *give, MPI_BYTE, status.MPI_SOURCE,
                                  TAG_ANSWERS, profile.channel, new_request(lists));
}

/* Only ranks that have waited for each other exchange messages. False: communication failed. */
static bool exchange(struct lists *lists)
{
    size_t n = (size_t)profile.size, queries = (size_t)profile_messages.queries;
    int *asks = weft_interpose_allocate(n, sizeof *asks), peers = 0, askers = 0;
    lists->n = weft_interpose_allocate(n * 2, sizeof(int));
    lists->at = lists->n + n;
    lists->asked = weft_interpose_allocate(queries, sizeof *lists->asked);
    lists->answers = weft_interpose_allocate(queries, sizeof *lists->answers);
    lists->index = weft_interpose_allocate(queries, sizeof *lists->index);
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
    lists->request = weft_interpose_allocate((size_t)lists->space, sizeof *lists->request);
    lists->give = weft_interpose_allocate((size_t)askers, sizeof *lists->give);
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

static void add_late(const struct profile_long *call, enum profile_late cause, int peer,
                     double seconds, double *late)
{
    call->slot->late[cause] += seconds;
    late[peer / profile.fold] += seconds;
    profile_vote(&call->slot->late_most[cause], peer, seconds);
}

/* Adds the time until the last other end that began inside the call, and after it the longest
 * absence of a rank that came back before the call returned. */
static void split(const struct profile_long *call, const struct answer *answers, double *late)
{
    double begin = profile_time(profile.clock, call->begin);
    double end = profile_time(profile.clock, call->begin + call->ticks);
    double last = begin, absent = 0;
    const struct profile_query *late_end = NULL, *absentee = NULL;
    for (int i = call->first; i < call->first + call->queries; i++)
        if (answers[i].began > last && answers[i].began <= end) { /* false for NAN */
            last = answers[i].began;
            late_end = &profile_messages.query[i];
        }
    for (int i = call->first; i < call->first + call->queries; i++) {
        const struct profile_query *query = &profile_messages.query[i];
        if (query->asks_for == PROFILE_RECEIVER && is_eager(query->bytes))
            continue;
        if (answers[i].back - fmax(last, answers[i].left) > absent) {
            absent = answers[i].back - fmax(last, answers[i].left);
            absentee = query;
        }
    }
    if (late_end)
        add_late(call, (enum profile_late)late_end->asks_for, late_end->peer, last - begin, late);
    if (absentee)
        add_late(call, PROFILE_LATE_PROGRESS, absentee->peer, absent, late);
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
        struct answer *answers =
            weft_interpose_allocate((size_t)profile_messages.queries, sizeof *answers);
        for (int i = 0; i < profile_messages.queries; i++)
            answers[lists.index[i]] = lists.answers[i];
        for (int i = 0; i < profile_messages.longs; i++)
            split(&profile_messages.longest[i], answers, late);
        free(answers);
    }
    free_lists(&lists);
    return ok;
}
