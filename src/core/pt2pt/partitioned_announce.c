// SPDX-License-Identifier: BSD-3-Clause
/*
 * Matching partitioned sends with partitioned receives: announcements and their receives
 * (core/pt2pt/partitioned.h).
 *
 * Invariants:
 *  - An announcement that is kept fits no partitioned receive that waits.
 *  - For each source of a channel there are as many places for announcements, posted or due, as
 *    partitioned receives wait. So one that fits is always found, however many that do not fit came
 *    before it.
 *  - All lists are oldest first. Announcements are delivered in the order in which their receives
 *    were posted, which is the order in which they were sent: they may complete in another one.
 */
#include "core/object/error.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/partitioned_internal.h"
#include "core/process/weft.h"

#include <stdlib.h>

struct weft_request weft_announcements = {.op = WEFT_REQUEST_ANNOUNCEMENT};
struct weft_partitioned weft_announcer;

/* An announcement that was kept, or the place for one that is to come. */
struct arrival {
    struct weft_announcement what;
    struct weft_channel *channel;
    int rank;
    bool complete; /* its receive */
    struct arrival *next, **link;
};

struct arrivals {
    struct arrival *first, **end;
};

static struct arrivals kept = {.end = &kept.first};         /* fit no receive yet */
static struct arrivals expected = {.end = &expected.first}; /* their receives are posted */
static struct arrivals due = {.end = &due.first};           /* their receives are to be posted */
static struct weft_precv *waiting, **waiting_end = &waiting;
static uint32_t next_id = WEFT_PARTITIONED_ANNOUNCE + 1;

/* ---- The sender's side */

static uint32_t take_id(void)
{
    uint32_t id;
    static bool wrapped;
    do {
        id = next_id++;
        if (next_id > (uint32_t)weft.tag_ub) {
            next_id = WEFT_PARTITIONED_ANNOUNCE + 1;
            wrapped = true;
        }
    } while (wrapped && weft_partitioned_has_id(id));
    return id;
}

int weft_announce(struct weft_psend *send)
{
    struct weft_announcement *what = malloc(sizeof *what);
    if (!what)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to announce a partitioned send; free some "
                                              "requests first");
    send->base.id = take_id();
    *what = (struct weft_announcement){.bytes = send->base.bytes,
                                       .partitions = send->base.is.partitions,
                                       .id = send->base.id,
                                       .tag = send->base.is.tag};
    int code = weft_partitioned_send(&send->base.is, WEFT_PARTITIONED_ANNOUNCE, what, sizeof *what,
                                     weft_datatype_byte(), &weft_announcements, what);
    if (code != MPI_SUCCESS)
        free(what);
    return code;
}

/* ---- The receiver's side */

static bool same_place(const struct arrival *arrival, const struct weft_precv *recv)
{
    return arrival->channel == recv->base.is.channel && arrival->rank == recv->base.is.rank;
}

static void remove_waiting(struct weft_precv **link)
{
    struct weft_precv *recv = *link;
    *link = recv->next_waiting;
    if (!*link)
        waiting_end = link;
}

void weft_announcement_forget(struct weft_precv *recv)
{
    for (struct weft_precv **link = &waiting; *link; link = &(*link)->next_waiting)
        if (*link == recv) {
            remove_waiting(link);
            return;
        }
}

static void unlink_arrival(struct arrival *arrival, struct arrivals *list)
{
    *arrival->link = arrival->next;
    if (arrival->next)
        arrival->next->link = arrival->link;
    else
        list->end = arrival->link;
}

static void append_arrival(struct arrival *arrival, struct arrivals *list)
{
    arrival->next = NULL;
    arrival->link = list->end;
    *list->end = arrival;
    list->end = &arrival->next;
}

/* A new buffer for an announcement, on no list. NULL if memory is short: the sentence is recorded.
 */
static struct arrival *new_place(struct weft_channel *channel, int rank)
{
    struct arrival *arrival = malloc(sizeof *arrival);
    if (!arrival) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for the announcement of a partitioned send; free "
                                       "some requests first");
        return NULL;
    }
    arrival->channel = channel;
    arrival->rank = rank;
    arrival->complete = false;
    return arrival;
}

/* No more announcements come from the source of an arrival: ends the receives that wait for one. */
static void fail(const struct arrival *arrival, int error)
{
    struct weft_precv **link = &waiting;
    while (*link) {
        struct weft_precv *recv = *link;
        if (same_place(arrival, recv)) {
            remove_waiting(link);
            weft_precv_unmatchable(recv, error);
        } else {
            link = &recv->next_waiting;
        }
    }
}

/* Keeps an announcement until a receive matches it; the receive of announcements is posted again.
 */
static void keep(struct arrival *arrival)
{
    struct arrival *again = new_place(arrival->channel, arrival->rank);
    append_arrival(arrival, &kept);
    if (!again) {
        fail(arrival, MPI_ERR_NO_MEM);
        return;
    }
    append_arrival(again, &due);
    weft_partitioned_queue(&weft_announcer);
}

/* The oldest receive that fits gets it; without one it is kept. */
static void deliver(struct arrival *arrival)
{
    unlink_arrival(arrival, &expected);
    for (struct weft_precv **link = &waiting; *link; link = &(*link)->next_waiting) {
        struct weft_precv *recv = *link;
        if (!same_place(arrival, recv) || recv->base.is.tag != arrival->what.tag)
            continue;
        remove_waiting(link);
        weft_precv_matched(recv, &arrival->what);
        free(arrival);
        return;
    }
    keep(arrival);
}

/* Delivers the announcements of a place that have come, as far as no older one is still to come. */
static void deliver_in_order(struct weft_channel *channel, int rank)
{
    struct arrival *arrival = expected.first, *next;
    for (; arrival; arrival = next) {
        next = arrival->next;
        if (arrival->channel != channel || arrival->rank != rank)
            continue;
        if (!arrival->complete)
            return;
        deliver(arrival);
    }
}

static bool is_announcement(const struct weft_announcement *what, size_t length)
{
    return length == sizeof *what && what->id > WEFT_PARTITIONED_ANNOUNCE &&
           what->id <= (uint32_t)weft.tag_ub;
}

int weft_partitioned_damaged(int rank)
{
    return weft_error_set(MPI_ERR_INTERN,
                          "a message of rank %d about a partitioned send is damaged; see whether "
                          "all ranks run the same version of Weft",
                          rank);
}

void weft_announcement_part(struct weft_request *part)
{
    if (part->op == WEFT_REQUEST_SEND) {
        free(part->part.copy);
    } else {
        struct arrival *arrival = part->buffer; /* what is its first member */
        struct weft_channel *channel = arrival->channel;
        int rank = arrival->rank;
        arrival->complete = true;
        int error = part->error || is_announcement(&arrival->what, part->bytes)
                        ? part->error
                        : weft_partitioned_damaged(rank);
        if (error) {
            fail(arrival, error);
            unlink_arrival(arrival, &expected);
            free(arrival);
        }
        deliver_in_order(channel, rank);
    }
    weft_request_put(part);
}

/* Posts the receive of an announcement. Returns an MPI error class whose sentence is recorded; then
 * the buffer is freed. */
static int expect(struct arrival *arrival)
{
    struct weft_partition_arguments from = {.channel = arrival->channel, .rank = arrival->rank};
    append_arrival(arrival, &expected);
    int code = weft_partitioned_receive(&from, WEFT_PARTITIONED_ANNOUNCE, &arrival->what,
                                        sizeof arrival->what, weft_datatype_byte(),
                                        &weft_announcements, 0);
    if (code != MPI_SUCCESS) {
        fail(arrival, code);
        unlink_arrival(arrival, &expected);
        free(arrival);
    }
    return code;
}

void weft_announcement_advance(void)
{
    while (due.first) {
        struct arrival *arrival = due.first;
        unlink_arrival(arrival, &due);
        expect(arrival);
    }
}

/* Takes the oldest that was kept for a receive. */
static bool take_kept(struct weft_precv *recv)
{
    for (struct arrival *arrival = kept.first; arrival; arrival = arrival->next) {
        if (!same_place(arrival, recv) || recv->base.is.tag != arrival->what.tag)
            continue;
        weft_precv_matched(recv, &arrival->what);
        unlink_arrival(arrival, &kept);
        free(arrival);
        return true;
    }
    return false;
}

int weft_announcement_await(struct weft_precv *recv)
{
    if (take_kept(recv))
        return MPI_SUCCESS;
    struct arrival *place = new_place(recv->base.is.channel, recv->base.is.rank);
    if (!place)
        return MPI_ERR_NO_MEM;
    recv->next_waiting = NULL;
    *waiting_end = recv;
    waiting_end = &recv->next_waiting;
    return expect(place);
}

static void forget(const struct weft_channel *channel, struct arrivals *list)
{
    for (struct arrival *arrival = list->first, *next; arrival; arrival = next) {
        next = arrival->next;
        if (arrival->channel == channel) {
            unlink_arrival(arrival, list);
            free(arrival);
        }
    }
}

void weft_partitioned_forget(const struct weft_channel *channel)
{
    forget(channel, &kept);
    forget(channel, &due);
    for (struct weft_precv *recv = waiting, *after; recv; recv = after) {
        after = recv->next_waiting;
        if (recv->base.is.channel == channel && !recv->base.request)
            weft_precv_delete(recv);
    }
}

static void free_all(struct arrivals *list)
{
    while (list->first) {
        struct arrival *arrival = list->first;
        unlink_arrival(arrival, list);
        free(arrival);
    }
}

void weft_announcement_close(void)
{
    free_all(&kept);
    free_all(&expected);
    free_all(&due);
    waiting = NULL;
    waiting_end = &waiting;
}
