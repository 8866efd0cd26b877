// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends that only buffering lets pass: see buffering.h.
 */
#include "tools/check/buffering.h"
#include "core/base/clock.h"
#include "tools/check/channel.h"
#include "tools/check/races.h"

#include <stdlib.h>
#include <string.h>

/* A log has at most 1,000 entries of 64 bytes, and those of a job at most 25 MB. */
enum { LOG_MAX = 1000, JOB_MAX = 400000, FINDINGS_MAX = 16, NONE = -1, TEXT = 1000 };

static struct check_log self;
static int capacity;

/* ---- The log of this rank */

void check_log_begin(void)
{
    capacity = JOB_MAX / check.size < LOG_MAX ? JOB_MAX / check.size : LOG_MAX;
    self.entries = weft_interpose_allocate((size_t)capacity, sizeof *self.entries);
}

int check_log_add(const struct weft_call *call, enum check_log_kind kind, int peer, uint64_t comm,
                  int tag, uint64_t number)
{
    weft_assert(self.n <= capacity && peer < check.size);
    if (self.n == capacity) {
        self.is_full = true;
        return NONE;
    }
    self.entries[self.n] =
        (struct check_log_entry){.kind = kind,
                                 .call = call->function->plain,
                                 .site = weft_site_pack(weft_site_of(call->site)),
                                 .peer = peer,
                                 .from = NONE,
                                 .tag = tag,
                                 .comm = comm,
                                 .number = number};
    return self.n++;
}

bool check_log_is_full(void)
{
    return self.is_full;
}

void check_log_probe(const struct weft_call *call, uint64_t comm, int tag)
{
    if (!self.is_wild)
        check_log_add(call, CHECK_LOG_POST, NONE, comm, tag, 0);
    self.is_wild = true;
}

void check_log_match(int post, int source, uint64_t number)
{
    if (post < 0) /* the log was full */
        return;
    weft_assert(post < self.n && self.entries[post].kind == CHECK_LOG_POST);
    self.entries[post].from = source;
    self.entries[post].number = number;
    self.entries[post].is_matched = self.entries[post].peer == source;
}

/* ---- Rank 0: where the starts, posts and entries are */

struct position {
    uint64_t key; /* 0: the slot is empty */
    int at;       /* index in the log; of a collective call that waits for all: a rank */
};

static struct {
    struct check_log *logs;
    struct position *positions;
    size_t size; /* a power of 2 */
} job;

/* The key of an entry of a rank: a message has its other rank and number, a collective its
 * communicator and number. */
static uint64_t key_of(int rank, enum check_log_kind kind, uint64_t a, uint64_t b)
{
    const uint64_t first = (uint64_t)rank * 8 + (uint64_t)kind + 1;
    const uint64_t key = check_mix(check_mix(check_mix(first, 0) + a, 0) + b, 0);
    return key ? key : 1;
}

static struct position *position_of(uint64_t key)
{
    size_t at = key & (job.size - 1);
    weft_assert(key && !(job.size & (job.size - 1)));
    while (job.positions[at].key && job.positions[at].key != key)
        at = (at + 1) & (job.size - 1);
    return &job.positions[at];
}

/* A collective call that waits for all ranks has the lowest rank that it may wait for; no rank
 * below is ever missing again. */
static struct position *cursor_of(const struct check_log_entry *entry)
{
    const uint64_t key = key_of(0, CHECK_LOG_AWAIT_ALL, entry->comm, entry->number);
    struct position *position = position_of(key);
    position->key = key;
    return position;
}

static void add_positions(int rank)
{
    const struct check_log *log = &job.logs[rank];
    for (int i = 0; i < log->n; i++) {
        const struct check_log_entry *entry = &log->entries[i];
        if (entry->kind == CHECK_LOG_AWAIT_ALL || entry->kind == CHECK_LOG_MAY_AWAIT)
            cursor_of(entry);
        const bool is_message =
            entry->kind == CHECK_LOG_START || (entry->kind == CHECK_LOG_POST && entry->is_matched);
        if (!is_message && entry->kind != CHECK_LOG_ENTER)
            continue;
        const uint64_t first = is_message ? (uint64_t)entry->peer : entry->comm;
        const uint64_t key = key_of(rank, entry->kind, first, entry->number);
        *position_of(key) = (struct position){key, i};
    }
}

int check_log_find(int rank, enum check_log_kind kind, uint64_t a, uint64_t b)
{
    const struct position *position = position_of(key_of(rank, kind, a, b));
    return position->key ? position->at : NONE;
}

/* The rank that has not yet made the entry; NONE: it has, or will never. */
static int missing(int rank, enum check_log_kind kind, uint64_t a, uint64_t b)
{
    const struct check_log *log = &job.logs[rank];
    const int at = check_log_find(rank, kind, a, b);
    return at != NONE && !log->is_released && at >= log->next ? rank : NONE;
}

/* ---- Rank 0: execution */

/* The rank for which the next entry of a rank waits; NONE: it passes. */
static int blocker(int rank)
{
    const struct check_log *log = &job.logs[rank];
    const struct check_log_entry *entry = &log->entries[log->next];
    const struct check_log_entry *post;
    struct position *cursor;
    switch (entry->kind) {
    case CHECK_LOG_AWAIT_POST:
        if (job.logs[entry->peer].is_wild)
            return NONE;
        return missing(entry->peer, CHECK_LOG_POST, (uint64_t)rank, entry->number);
    case CHECK_LOG_AWAIT_START:
        post = &log->entries[entry->number];
        if (!post->is_matched)
            return NONE;
        return missing(post->peer, CHECK_LOG_START, (uint64_t)rank, post->number);
    case CHECK_LOG_AWAIT_ALL:
    case CHECK_LOG_MAY_AWAIT:
        cursor = cursor_of(entry);
        while (cursor->at < check.size &&
               missing(cursor->at, CHECK_LOG_ENTER, entry->comm, entry->number) == NONE)
            cursor->at++;
        return cursor->at < check.size ? cursor->at : NONE;
    case CHECK_LOG_AWAIT_ROOT:
        return missing(entry->peer, CHECK_LOG_ENTER, entry->comm, entry->number);
    default:
        return NONE;
    }
}

/* Passes all entries that wait for nothing. */
static void advance(void)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < check.size; i++) {
            struct check_log *log = &job.logs[i];
            while (log->next < log->n && blocker(i) == NONE) {
                const struct check_log_entry *entry = &log->entries[log->next++];
                log->is_wild |= entry->kind == CHECK_LOG_POST && entry->peer < 0;
                moved = true;
            }
            if (log->next == log->n && log->is_full && !log->is_released)
                log->is_released = moved = true;
        }
    }
}

struct check_location check_log_location(const struct check_log_entry *entry)
{
    return (struct check_location){&weft_functions[entry->call], weft_site_unpack(entry->site)};
}

bool check_log_is_among(const struct check_log_entry *entry,
                        const struct weft_portable_site *reported, int n)
{
    int at = 0;
    while (at < n && reported[at].offset != entry->site.offset)
        at++;
    return at < n;
}

static void describe(char *text, bool is_first, int rank, int other)
{
    const struct check_log_entry *entry = &job.logs[rank].entries[job.logs[rank].next];
    const struct check_location location = check_log_location(entry);
    char call[384];
    size_t length = strlen(text);
    check_location_print(&location, call, sizeof call);
    const char *format = entry->kind == CHECK_LOG_MAY_AWAIT
                             ? "%srank %d may wait in %s for the same call of rank %d"
                         : entry->kind == CHECK_LOG_AWAIT_POST
                             ? "%srank %d waits in %s until rank %d receives its message"
                         : entry->kind == CHECK_LOG_AWAIT_START
                             ? "%srank %d waits in %s for a message of rank %d"
                             : "%srank %d waits in %s for the same call of rank %d";
    snprintf(text + length, TEXT - length, format, is_first ? "" : "; ", rank, call, other);
}

/* The lowest rank of the cycle that waits in an entry of a kind; NONE: there is none. */
static int first_of(int rank, enum check_log_kind kind)
{
    int first = NONE, at = rank;
    do {
        const struct check_log *log = &job.logs[at];
        if (log->entries[log->next].kind == kind && (first == NONE || at < first))
            first = at;
        at = blocker(at);
    } while (at != rank);
    return first;
}

static void report(int first, enum check_rule rule)
{
    char text[TEXT];
    const struct check_log *log = &job.logs[first];
    const struct check_location location = check_log_location(&log->entries[log->next]);
    int at = first;
    snprintf(text, sizeof text, "%s", rule == CHECK_SEND_BUFFERED ? "without buffers " : "");
    do {
        const int other = blocker(at);
        describe(text, at == first, at, other);
        at = other;
    } while (at != first);
    check_report_of(first, rule, &location, false, "%s", text);
}

/* Lets the entries of a kind in a cycle pass; if there is none, its first wait. */
static void pass(int rank, bool has_kind, enum check_log_kind kind)
{
    int ranks = 0, at = rank;
    do {
        ranks++;
        at = blocker(at);
    } while (at != rank);
    int *cycle = weft_interpose_allocate((size_t)ranks, sizeof *cycle);
    for (int i = 0; i < ranks; i++, at = blocker(at))
        cycle[i] = at;
    for (int i = 0; i < (has_kind ? ranks : 1); i++) {
        struct check_log *log = &job.logs[cycle[i]];
        log->next += !has_kind || log->entries[log->next].kind == kind;
    }
    free(cycle);
}

static int stuck_rank(void)
{
    for (int i = 0; i < check.size; i++)
        if (job.logs[i].next < job.logs[i].n)
            return i;
    return NONE;
}

/* Executes the logs; reports one cycle for each line with a send, or a collective call that may
 * wait. */
static void execute(void)
{
    struct weft_portable_site reported[FINDINGS_MAX];
    int n = 0, rank;
    for (advance(); (rank = stuck_rank()) != NONE && n < FINDINGS_MAX; advance()) {
        for (int i = 0; i < check.size; i++) /* into the cycle */
            rank = blocker(rank);
        enum check_log_kind kind = CHECK_LOG_AWAIT_POST;
        int first = first_of(rank, kind);
        if (first == NONE)
            first = first_of(rank, kind = CHECK_LOG_MAY_AWAIT);
        if (first != NONE) {
            const struct check_log_entry *entry = &job.logs[first].entries[job.logs[first].next];
            if (!check_log_is_among(entry, reported, n)) {
                reported[n++] = entry->site;
                report(first, kind == CHECK_LOG_AWAIT_POST ? CHECK_SEND_BUFFERED
                                                           : CHECK_COLLECTIVE_BUFFERED);
            }
        }
        pass(rank, first != NONE, kind);
    }
}

/* ---- The logs of all ranks */

static void make_positions(int ranks)
{
    size_t all = 0;
    for (int i = 0; i < ranks; i++)
        all += (size_t)job.logs[i].n;
    for (job.size = 64; job.size < 2 * all;)
        job.size *= 2;
    job.positions = weft_interpose_allocate(job.size, sizeof *job.positions);
    for (int i = 0; i < ranks; i++)
        add_positions(i);
}

static void free_job(struct check_log_entry *entries)
{
    free(entries);
    free(job.logs);
    free(job.positions);
}

void check_log_take(const struct check_record *record)
{
    static MPI_Request request; /* the job ends before it is complete */
    weft_next.Isend(self.entries, self.n * (int)sizeof *self.entries, MPI_BYTE, record->rank,
                    CHECK_LOG_TAG, check.channel, &request);
}

/* Receives the logs; that of a rank which does not send it is empty. */
static struct check_log_entry *collect(void)
{
    const size_t n = (size_t)check.size, each = (size_t)capacity;
    const double limit = weft_seconds() + 1;
    struct check_record record = {.kind = CHECK_RECORD_LOG, .call = WEFT_CALL_Abort};
    struct check_log_entry *entries = weft_interpose_allocate(n * each, sizeof *entries);
    MPI_Request *requests = weft_interpose_allocate(n, sizeof(MPI_Request));
    job.logs = weft_interpose_allocate(n, sizeof *job.logs);
    for (int i = 0; i < check.size; i++) {
        requests[i] = MPI_REQUEST_NULL; /* that of this rank: complete at once */
        if (i == check.rank)
            continue;
        weft_next.Irecv_c(&entries[(size_t)i * each], (MPI_Count)(each * sizeof *entries), MPI_BYTE,
                          i, CHECK_LOG_TAG, check.channel, &requests[i]);
        check_channel_send(i, &record);
    }
    for (int done = 0, round = 0; done < check.size && weft_seconds() < limit; round++) {
        check_channel_pause(round);
        done = 0;
        for (int i = 0; i < check.size; i++) {
            int flag = 0, bytes = 0;
            MPI_Status status;
            weft_next.Request_get_status(requests[i], &flag, &status);
            if (flag)
                weft_next.Get_count(&status, MPI_BYTE, &bytes);
            done += flag;
            job.logs[i].n = flag ? bytes / (int)sizeof *entries : 0;
            job.logs[i].is_full = !flag;
            job.logs[i].entries = &entries[(size_t)i * each];
        }
    }
    free(requests);
    check_channel_poll(); /* the records of messages precede the logs of their senders */
    job.logs[check.rank] = self;
    return entries;
}

void check_log_find_races(void)
{
    struct check_log_entry *entries = collect();
    make_positions(check.size);
    check_races_find(job.logs, true);
    free_job(entries);
}

/* ---- The end */

static void gather(void)
{
    int numbers[2] = {self.n, self.is_full}, all = 0, n = check.rank == 0 ? check.size : 0;
    int *each = weft_interpose_allocate((size_t)n * 2, sizeof *each),
        *counts = weft_interpose_allocate((size_t)n * 2, sizeof *counts), *at = counts + n;
    MPI_Datatype type;
    weft_next.Type_contiguous((int)sizeof(struct check_log_entry), MPI_BYTE, &type);
    weft_next.Type_commit(&type);
    weft_next.Gather(numbers, 2, MPI_INT, each, 2, MPI_INT, 0, check.channel);
    for (int i = 0; i < n; i++) {
        counts[i] = each[2 * i];
        at[i] = all;
        all += counts[i];
    }
    struct check_log_entry *entries = weft_interpose_allocate((size_t)all, sizeof *entries);
    weft_next.Gatherv(self.entries, self.n, type, entries, counts, at, type, 0, check.channel);
    weft_next.Type_free(&type);
    job.logs = weft_interpose_allocate((size_t)n, sizeof *job.logs);
    for (int i = 0; i < n; i++)
        job.logs[i] = (struct check_log){
            .entries = &entries[at[i]], .n = counts[i], .is_full = each[2 * i + 1]};
    make_positions(n);
    if (n && (check.kinds & CHECK_RACES))
        check_races_find(job.logs, false);
    if (n && (check.kinds & CHECK_DEADLOCKS))
        execute();
    free_job(entries);
    free(each);
    free(counts);
}

void check_log_finish(void)
{
    gather();
    free(self.entries);
}
