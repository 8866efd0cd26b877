// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records and receives: see matching.h.
 */
#include "tools/check/matching.h"
#include "tools/check/buffering.h"
#include "tools/check/comms.h"
#include "tools/check/repeats.h"

#include <stdlib.h>

/* A record that no receive has matched. */
struct check_arrival {
    struct check_arrival *next;
    struct check_record record;
};

/* The records of one source. */
struct queue {
    struct check_arrival *first, *last;
    struct check_record *newest; /* of each slot (repeats.h); NULL: no record has come */
};

static struct {
    struct queue *queues; /* of each source */
    struct check_posted *first, **end;
    int wildcards;   /* posted receives whose envelope is not known */
    bool is_blocked; /* receives were not matched because of one */
    struct check_keys uncompared;
} state = {.end = &state.first};

static struct check_pool arrivals = {.size = sizeof(struct check_arrival)},
                         receives = {.size = sizeof(struct check_posted)};

/* ---- Communicators that are not compared */

bool check_matching_is_uncompared(uint64_t comm)
{
    return check_keys_has(&state.uncompared, comm);
}

void check_matching_set_uncompared(uint64_t comm)
{
    check_keys_add(&state.uncompared, comm);
}

/* ---- The list of posted receives */

static bool is_wild(const struct check_posted *posted)
{
    return posted->source == CHECK_ANY || posted->tag == CHECK_ANY;
}

struct check_posted *check_matching_post(const struct check_posted *like)
{
    struct check_posted *posted = check_pool_take(&receives);
    *posted = *like;
    posted->next = NULL;
    posted->at = state.end;
    *state.end = posted;
    state.end = &posted->next;
    state.wildcards += is_wild(posted);
    return posted;
}

void check_matching_withdraw(struct check_posted *posted)
{
    *posted->at = posted->next;
    if (posted->next)
        posted->next->at = posted->at;
    else
        state.end = posted->at;
    state.wildcards -= is_wild(posted);
    weft_assert(state.wildcards >= 0 && !*state.end);
    if (posted->arrival)
        check_pool_give(&arrivals, posted->arrival);
    check_pool_give(&receives, posted);
}

/* ---- Comparing */

static void report(struct check_posted *posted, enum check_rule rule)
{
    const struct check_record *record = &posted->arrival->record;
    const struct check_location from = check_location_in(record);
    char sender[256], sent[96], received[96];
    check_location_print(&from, sender, sizeof sender);
    check_signature_print(&record->message.signature, sent, sizeof sent);
    check_signature_print(&posted->side.all, received, sizeof received);
    posted->is_reported = true;
    if (!(check.kinds & CHECK_MESSAGES))
        return;
    check_report(rule, &posted->side.location, true,
                 "it receives %s (%lld bytes), but rank %d sends %s (%lld bytes) with tag %d, in "
                 "%s",
                 received, (long long)posted->side.bytes, record->rank, sent,
                 (long long)record->message.bytes, record->message.tag, sender);
}

void check_matching_settle(struct check_posted *posted)
{
    const struct check_message *message = &posted->arrival->record.message;
    weft_assert(posted->comm == message->comm && posted->tag == message->tag);
    if (check_matching_is_uncompared(posted->comm)) {
        if (posted->is_complete && posted->is_described)
            check_matching_withdraw(posted);
        return;
    }
    bool is_truncated = posted->is_described && message->bytes > posted->side.bytes;
    if (is_truncated && !posted->is_reported)
        report(posted, CHECK_MESSAGE_TRUNCATED);
    if (!posted->is_complete || !posted->is_described)
        return;
    if (!is_truncated && message->bytes != posted->bytes)
        check_matching_set_uncompared(posted->comm);
    else if (!is_truncated &&
             !check_signature_begins(&message->signature, &posted->side.all, &posted->side.one))
        report(posted, CHECK_MESSAGE_SIGNATURE);
    check_matching_withdraw(posted);
}

/* ---- Matching */

/* The first arrival with the envelope of a receive, and the one before it; NULL: there is none. */
static struct check_arrival *find_arrival(const struct check_posted *posted,
                                          struct check_arrival **before)
{
    struct check_arrival *arrival = state.queues[posted->source].first;
    weft_assert(!is_wild(posted) && posted->source < check.size && !posted->arrival);
    *before = NULL;
    while (arrival && (arrival->record.message.comm != posted->comm ||
                       arrival->record.message.tag != posted->tag)) {
        *before = arrival;
        arrival = arrival->next;
    }
    return arrival;
}

static void unlink_arrival(struct queue *queue, struct check_arrival *before,
                           const struct check_arrival *arrival)
{
    if (before)
        before->next = arrival->next;
    else
        queue->first = arrival->next;
    if (queue->last == arrival)
        queue->last = before;
}

static struct check_arrival *take_arrival(const struct check_posted *posted)
{
    struct check_arrival *before, *arrival = find_arrival(posted, &before);
    if (!arrival)
        return NULL;
    if (arrival->record.message.repeats > 1) {
        struct check_arrival *one = check_pool_take(&arrivals);
        one->record = arrival->record;
        one->record.message.repeats = 1;
        arrival->record.message.repeats--;
        arrival->record.message.number += CHECK_SLOTS;
        return one;
    }
    unlink_arrival(&state.queues[posted->source], before, arrival);
    return arrival;
}

bool check_matching_fits(const struct check_posted *posted)
{
    struct check_arrival *before;
    const struct check_arrival *arrival = is_wild(posted) ? NULL : find_arrival(posted, &before);
    return !arrival || (arrival->record.message.bytes <= posted->side.bytes &&
                        check_signature_begins(&arrival->record.message.signature,
                                               &posted->side.all, &posted->side.one));
}

/* True if an earlier receive, whose envelope is not known, may take the message of this one. */
static bool is_behind_wildcard(const struct check_posted *posted)
{
    if (state.wildcards == 0)
        return false;
    for (struct check_posted *earlier = state.first; earlier != posted; earlier = earlier->next)
        if (is_wild(earlier) && earlier->comm == posted->comm &&
            (earlier->source == CHECK_ANY || earlier->source == posted->source) &&
            (earlier->tag == CHECK_ANY || earlier->tag == posted->tag))
            return true;
    return false;
}

bool check_matching_match(struct check_posted *posted)
{
    if (posted->arrival || is_wild(posted))
        return false;
    if (is_behind_wildcard(posted)) {
        state.is_blocked = true;
        return false;
    }
    posted->arrival = take_arrival(posted);
    if (!posted->arrival)
        return false;
    check_log_match(posted->log, posted->source, posted->arrival->record.message.number);
    check_matching_settle(posted);
    return true;
}

/* After the envelope of a wildcard receive is known, or a receive has gone. */
static void match_blocked(uint64_t comm)
{
    if (!state.is_blocked)
        return;
    state.is_blocked = false;
    for (struct check_posted *posted = state.first, *next; posted; posted = next) {
        next = posted->next;
        if (posted->comm == comm)
            check_matching_match(posted);
        else if (!posted->arrival && !is_wild(posted))
            state.is_blocked = true; /* it may be, by one of its own communicator */
    }
}

static void append_arrival(const struct check_record *record)
{
    const struct check_message *message = &record->message;
    struct queue *queue = &state.queues[record->rank];
    struct check_arrival *arrival = check_pool_take(&arrivals);
    *arrival = (struct check_arrival){.record = *record};
    if (queue->first)
        queue->last->next = arrival;
    else
        queue->first = arrival;
    queue->last = arrival;
    if (!queue->newest)
        queue->newest = weft_interpose_allocate(CHECK_SLOTS, sizeof *queue->newest);
    queue->newest[check_repeats_slot(message->comm, message->tag)] = *record;
}

/* Drops the record of a message that there is not. False: it is counted with others, or a receive
 * has matched it. */
static bool drop_arrival(int rank, uint64_t number)
{
    struct queue *queue = &state.queues[rank];
    struct check_arrival *before = NULL, *arrival = queue->first;
    while (arrival && arrival->record.message.number != number) {
        before = arrival;
        arrival = arrival->next;
    }
    if (!arrival || arrival->record.message.repeats > 1)
        return false;
    unlink_arrival(queue, before, arrival);
    check_pool_give(&arrivals, arrival);
    return true;
}

void check_matching_take(const struct check_record *record)
{
    const struct check_message *message = &record->message;
    int left = message->repeats;
    weft_assert(!check.several_threads);
    if (check_matching_is_uncompared(message->comm))
        return;
    if (message->is_void) {
        if (!drop_arrival(record->rank, message->number))
            check_matching_set_uncompared(message->comm);
        return;
    }
    append_arrival(record);
    for (struct check_posted *posted = state.first, *next; posted && left; posted = next) {
        next = posted->next;
        if (posted->comm != message->comm || posted->source != record->rank ||
            posted->tag != message->tag || posted->arrival)
            continue;
        if (!check_matching_match(posted))
            break;
        left--;
    }
}

void check_matching_complete(struct check_posted *posted, const MPI_Status *status)
{
    int is_cancelled = 0;
    MPI_Count bytes = 0;
    weft_next.Test_cancelled(status, &is_cancelled);
    uint64_t key = posted->comm;
    if (check_matching_is_uncompared(key)) {
        check_matching_withdraw(posted);
        return;
    }
    if (is_cancelled) {
        if (posted->arrival)
            check_matching_set_uncompared(key);
        check_matching_withdraw(posted);
        match_blocked(key);
        return;
    }
    const bool was_wild = is_wild(posted);
    if (was_wild) {
        int source = CHECK_ANY;
        check_lock();
        const struct check_comm *comm = check_comm_find_key(key);
        bool is_known =
            comm && check_comm_find_peer(comm, status->MPI_SOURCE, &source) && source != CHECK_ANY;
        check_unlock();
        if (!is_known) {
            check_matching_set_uncompared(key);
            check_matching_withdraw(posted);
            return;
        }
        posted->source = source;
        posted->tag = status->MPI_TAG;
        state.wildcards--;
    }
    weft_next.Get_count_c(status, MPI_BYTE, &bytes);
    posted->bytes = bytes;
    posted->is_complete = true;
    if (posted->arrival)
        check_matching_settle(posted);
    else
        check_matching_match(posted);
    if (was_wild)
        match_blocked(key);
}

/* ---- Receives that are complete in the library, before the program completes them */

/* The record that may count the message of a receive; NULL: there is none. */
static const struct check_record *newest_of(const struct check_posted *posted)
{
    const struct check_record *newest = state.queues[posted->source].newest;
    if (!newest)
        return NULL;
    newest += check_repeats_slot(posted->comm, posted->tag);
    const bool is_alike = newest->message.repeats > 0 && newest->message.comm == posted->comm &&
                          newest->message.tag == posted->tag;
    return is_alike ? newest : NULL;
}

bool check_matching_is_matched(const struct check_posted *posted)
{
    if (!posted || posted->arrival || is_wild(posted) || check_matching_is_uncompared(posted->comm))
        return true;
    const struct check_record *newest = newest_of(posted);
    return newest && newest->message.bytes <= posted->side.bytes;
}

void check_matching_stop(struct check_posted *posted)
{
    if (check_matching_is_matched(posted))
        return;
    const struct check_record *newest = newest_of(posted);
    if (newest) {
        struct check_arrival arrival = {.record = *newest};
        posted->arrival = &arrival;
        report(posted, CHECK_MESSAGE_TRUNCATED);
        posted->arrival = NULL;
    }
    check_matching_set_uncompared(posted->comm);
}

/* ---- Messages that wait for a receive */

static bool may_match(const struct check_posted *posted, const struct check_arrival *arrival)
{
    const struct check_record *record = &arrival->record;
    return posted->comm == record->message.comm && !posted->arrival &&
           (posted->source == CHECK_ANY || posted->source == record->rank) &&
           (posted->tag == CHECK_ANY || posted->tag == record->message.tag);
}

bool check_matching_has_arrived(const struct check_posted *posted)
{
    if (check_matching_is_uncompared(posted->comm))
        return true;
    const int first = posted->source == CHECK_ANY ? 0 : posted->source;
    const int last = posted->source == CHECK_ANY ? check.size - 1 : posted->source;
    for (int i = first; i <= last; i++)
        for (const struct check_arrival *arrival = state.queues[i].first; arrival;
             arrival = arrival->next)
            if (may_match(posted, arrival))
                return true;
    return false;
}

bool check_matching_has_message(uint64_t comm, int source, int tag)
{
    const struct check_posted posted = {.comm = comm, .source = source, .tag = tag};
    return check_matching_has_arrived(&posted);
}

static bool has_number(const struct check_message *message, uint64_t number)
{
    const uint64_t ahead = number - message->number;
    return ahead % CHECK_SLOTS == 0 && ahead / CHECK_SLOTS < (uint64_t)message->repeats;
}

bool check_matching_is_unmatched(int rank, uint64_t number)
{
    const struct check_arrival *arrival = state.queues[rank].first;
    while (arrival && !has_number(&arrival->record.message, number))
        arrival = arrival->next;
    bool unmatched = arrival && !check_matching_is_uncompared(arrival->record.message.comm);
    for (const struct check_posted *posted = state.first; posted && unmatched;
         posted = posted->next)
        unmatched = !may_match(posted, arrival);
    return unmatched;
}

/* ---- The begin and the end of the job */

void check_matching_begin_job(void)
{
    state.queues = weft_interpose_allocate((size_t)check.size, sizeof *state.queues);
}

/* True if the message of a record is there, and no receive has matched it. */
static bool is_there(const struct check_record *record)
{
    int flag = 0;
    const struct check_comm *comm = check_comm_find_key(record->message.comm);
    for (int i = 0; comm && i < comm->size && !flag; i++)
        if (comm->world[i] == record->rank)
            weft_next.Iprobe(i, record->message.tag, comm->handle, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void report_lost(const struct check_record *record)
{
    const struct check_location location = check_location_in(record);
    char sent[96];
    check_signature_print(&record->message.signature, sent, sizeof sent);
    check_report_of(record->rank, CHECK_NOT_RECEIVED, &location, false,
                    "rank %d has not received the message of %s with tag %d", check.rank, sent,
                    record->message.tag);
}

void check_matching_finish(void)
{
    for (int i = 0; i < check.size; i++) {
        while (state.queues[i].first) {
            struct check_arrival *arrival = state.queues[i].first;
            const struct check_message *message = &arrival->record.message;
            if ((check.kinds & CHECK_MESSAGES) && !check_matching_is_uncompared(message->comm) &&
                is_there(&arrival->record))
                for (int k = 0; k < message->repeats; k++)
                    report_lost(&arrival->record);
            state.queues[i].first = arrival->next;
            check_pool_give(&arrivals, arrival);
        }
        free(state.queues[i].newest);
    }
}
