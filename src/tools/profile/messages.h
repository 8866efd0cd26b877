// SPDX-License-Identifier: BSD-3-Clause
/*
 * Wait states of messages: late senders, late receivers, late progress.
 *
 * Method. No byte is added to a message. The messages of a channel (sender, receiver, tag, group of
 * the communicator) match in the order in which they are sent and in which their receives are
 * posted, so each side numbers them by itself: the n-th send meets the n-th receive. Each rank
 * keeps when it began sends and posted receives (profile_post), and which calls took long, with the
 * numbers of the messages that they waited for (profile_long, profile_query). In MPI_Finalize a
 * rank requests from its peers when they began the other ends of these messages (late.c). If the
 * other end began inside the call, the time from the begin of the call to it is waiting: for a late
 * sender if the call was to receive, for a late receiver if it was to send. A call that completes
 * several requests waited for the last of their other ends. An end that began after the call is not
 * counted: an eager send does not wait for its receive.
 *
 * Late progress. A rank also keeps when it was absent: the times between two calls that look for
 * messages of others. If both ends of a message had begun, and the call had not returned when the
 * other rank came back from an absence, the time from the later begin to its return is waiting for
 * its progress. A call that returned before did not need the other rank, and neither does a
 * rendezvous that ended before (an event of MPI_T), or an eager message: one below the smallest
 * that its sender has sent by rendezvous, if it never waited for credits. Of several absences and
 * ranks the longest counts. Waiting in nonblocking collectives is not split.
 *
 * Clocks. On a node all ranks read CLOCK_MONOTONIC. Nodes are aligned in MPI_Init and MPI_Finalize
 * by messages to rank 0 (clocks.c); between them the difference is taken as linear.
 *
 * Bounded memory. A post is kept if it came at least `gap` ticks after the one before it in its
 * channel: nobody waits longer for a message than since the one before. The other ends of messages
 * that are not kept have the time of the last post kept before them, so that a wait is rather too
 * short than too long. If a list is full, its threshold is doubled until half of it is free.
 *
 * Limits:
 *  - One thread calls MPI at a time.
 *  - Communicators of one group count as one: programs that send with one tag on two duplicates
 *    and receive in another order have waits at wrong calls, none longer than the call.
 *  - A receive with MPI_ANY_SOURCE or MPI_ANY_TAG is numbered when it completes, after receives
 *    that were posted later and have its source and tag.
 *  - Canceled receives are numbered like others. Probes that poll (MPI_Iprobe, MPI_Test) do not
 *    wait.
 *  - Of several rendezvous with one rank in one direction, the last that ended counts for all,
 *    and also for messages that waited for credits and for receives of synchronous messages, which
 *    may be none: their late progress may be too short. The end of a synchronous send, and in jobs
 *    of more than TRANSFERS_RANKS ranks of any rendezvous, is that of its call.
 *  - A transfer that the network makes alone, and that ends after the other rank has come back from
 *    an absence, counts as late progress for at most that absence.
 *  - CHANNELS channels in each direction, REQUESTS active requests: messages of others are left
 *    out.
 */
#ifndef WEFT_PROFILE_MESSAGES_H
#define WEFT_PROFILE_MESSAGES_H

#include "tools/profile/profile.h"

/* When a rank began a send or posted a receive. */
struct profile_post {
    uint64_t key; /* of the channel, the same at both ranks */
    uint64_t ticks;
    uint32_t n;     /* of the message in its channel */
    uint32_t bytes; /* of a send; UINT32_MAX: as many or more */
};

/* A time in which the rank made no call that looks for messages of others. */
struct profile_absence {
    uint64_t left, back;
};

/* A call that may have waited. */
struct profile_long {
    struct profile_slot *slot;
    uint64_t begin, ticks;
    int first, queries;
};

/* A message that it waited for. */
struct profile_query {
    uint64_t key;
    uint32_t n;
    uint32_t bytes; /* of a send; UINT32_MAX: as many or more, or it waits for its match */
    uint64_t until; /* ticks: the message had ended then */
    int32_t peer;
    enum profile_end asks_for; /* the other end */
};

struct profile_messages {
    int longs, queries, absences;
    uint64_t gap[PROFILE_ENDS], least, least_absence; /* ticks: thresholds */
    uint64_t left;       /* ticks: the last time at which the rank looked for messages of others */
    uint64_t unnumbered; /* messages left out */
    int n[PROFILE_ENDS];
    struct profile_post *post[PROFILE_ENDS]; /* at this rank: sends; receives */
    struct profile_long *longest;
    struct profile_long *open; /* the call that ends; NULL: it was short */
    struct profile_query *query;
    struct profile_absence *absence; /* in the order of time */
};

extern struct profile_messages profile_messages;

void profile_messages_begin(void);

/* Both halves of a call. now: gets the ranks that it may wait for; ticks: its duration; bytes: that
 * it sends. */
void profile_message_before(struct weft_call *call, struct profile_now *now);
void profile_message_after(const struct weft_call *call, struct profile_thread *thread,
                           struct profile_slot *slot, uint64_t begin, uint64_t ticks,
                           uint64_t bytes);

/* ---- What is kept: posts.c */

void profile_posts_begin(void);

struct profile_channel {
    uint64_t key; /* 0: free */
    uint64_t due; /* ticks: a post from then on is kept */
    uint32_t n;
};

/* The channel of a key at its sender or receiver. It never moves. NULL: there are too many, and the
 * message is left out. */
struct profile_channel *profile_channel_of(enum profile_end end, uint64_t key);

void profile_post_keep(enum profile_end end, struct profile_channel *channel, uint64_t ticks,
                       uint32_t bytes);

/* Numbers a message. */
static inline uint32_t profile_post_number(enum profile_end end, struct profile_channel *channel,
                                           uint64_t ticks, uint32_t bytes)
{
    if (ticks >= channel->due)
        profile_post_keep(end, channel, ticks, bytes);
    return channel->n++;
}

/* A rendezvous with a rank has ended, at this end of it. Any thread. */
void profile_transfer_ended(enum profile_end end, int rank);

/* Ticks at which the last rendezvous with a rank ended; 0: none did. */
uint64_t profile_transfer_end(enum profile_end end, int rank);

/* The number of the next message. */
uint32_t profile_post_next(enum profile_end end, uint64_t key);

/* The call that ends, and the messages that it waited for. It is kept if it took long and has
 * any. */
void profile_long_keep(struct profile_slot *slot, uint64_t begin, uint64_t ticks);
static inline void profile_long_open(struct profile_slot *slot, uint64_t begin, uint64_t ticks)
{
    profile_messages.open = NULL;
    if (__builtin_expect(ticks >= profile_messages.least, 0))
        profile_long_keep(slot, begin, ticks);
}
void profile_long_ask(const struct profile_query *query);
void profile_long_close(void);

void profile_absence_add(uint64_t back);

/* The rank looked for messages of others from begin to end. */
static inline void profile_absence_end(uint64_t begin, uint64_t end)
{
    struct profile_messages *m = &profile_messages;
    if (begin >= m->left + m->least_absence)
        profile_absence_add(begin);
    m->left = end;
}

/* Drops the calls that took least until there are at most so many queries. */
void profile_longs_thin(int queries);

/* ---- In MPI_Finalize: late.c, clocks.c */

/* Splits the time of long calls of all ranks. Collective. late: seconds that this rank waited, by
 * the bin of the rank that was late. Returns false if it is not known. */
bool profile_late_split(double *late);

/* Collective: what is to be added to weft_seconds() of this rank for the clock of rank 0. */
double profile_clock_difference(void);

#endif
