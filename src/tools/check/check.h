// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun --check: the tool that finds mistakes in the use of MPI while the program runs.
 *
 * How a call gets here: tools/interpose/call.h. check.c shows each call to the modules whose kind is
 * asked for, in the order below, before and after the real call:
 *
 *   objects      tables of live and freed handles, by the kinds of parameters alone: no function is
 *                named that only makes, reads or frees an object
 *   comms        communicators by a key that all their members compute alike, without a message
 *   collectives  a record of each collective call, compared by one rank of the communicator
 *   messages     (next) signatures of sends, compared by the receiver
 *   buffers      (next) memory of operations in flight, by intervals and checksums
 *   windows      (next) epochs, and intervals at origin and target
 *   waits        (next) the graph of ranks that wait
 *
 * State. One struct check for the process, with the tables of the modules. One lock protects the
 * tables; it is not held during the real call, nor when a message is sent or received.
 *
 * Messages between ranks (channel.h). MPI_Init duplicates MPI_COMM_WORLD; all messages of the checker
 * are on the duplicate, by ranks of MPI_COMM_WORLD, so that the order of the program's messages,
 * wildcards included, is not changed. A message is a record of fixed size. Records are sent
 * nonblocking and received at each call that the program makes (weft_next.Improbe on the channel
 * only). The checker never blocks on a record but in MPI_Finalize, so it adds no deadlock.
 *
 * Pairs of messages (next step). Each send gives the receiver's rank a record: key of the
 * communicator, tag, sequence number of that sender, signature, place. Messages of one sender and tag on one
 * communicator match receives in the order in which those were posted (3.5, non-overtaking), so the
 * receiver pairs a completed receive with the first record of its source and tag as soon as no
 * receive that was posted earlier and could match the same message is pending. Records without a
 * receive at the end are lost messages.
 *
 * Deadlocks (next step). Blocking calls are made as their nonblocking forms, which the checker tests in a
 * loop, so that a rank that waits receives records: no thread, and no higher thread level. Calls
 * without a nonblocking form (windows, files, constructors, MPI_Finalize) wait for a nonblocking
 * barrier of the channel's group first if the standard lets them synchronize. A rank that has waited
 * for 100 ms sends rank 0 its wait: the call, its place, the ranks that it needs, all (AND: MPI_Waitall,
 * collectives) or one of them (OR: wildcards, MPI_Waitany), and for each peer how many records it
 * has sent to and received from it. Rank 0 removes ranks that do not wait, and those that need only such,
 * until nothing changes. A rest is a deadlock if for each pair of its ranks the records sent and
 * received are equal (no message is in flight) and no record fits a pending receive; rank 0 asks the
 * ranks once more and they answer with the same number of the wait. MPI_Send waits for its receive in
 * a second graph, though the real one does not: a rest there and none in the first is a send that only
 * buffering lets pass. Cost: a wait is O(peers) bytes; 10^5 ranks in a collective send 10^5 records to rank 0
 * at a deadlock only, so they go up a tree of 32 children that join equal waits.
 *
 * Errors that end the job. A finding that may be followed by an abort or a hang is printed at once
 * (check_report, now); the others are printed by rank 0 at the end, joined over ranks.
 *
 * The end. MPI_Init sets an attribute on MPI_COMM_SELF, the first one; MPI_Finalize deletes
 * attributes in the reverse order, so the callback of this one runs when all those of the program
 * have freed their objects, and messages may still be sent.
 *
 * Settings: WEFT_CHECK=1, or a list of kinds and words: objects, collectives, fail (exit code 1 after
 * findings); WEFT_CHECK_SARIF=FILE.
 *
 * Invariants:
 *  - The checker calls MPI only by weft_next, so its own calls are not seen.
 *  - The results of the program's calls are those of the real calls, statuses included.
 */
#ifndef WEFT_CHECK_H
#define WEFT_CHECK_H

#include "tools/check/finding.h"
#include "tools/interpose/call.h"

#include <pthread.h>

struct check {
    int kinds;  /* bits of enum check_kind */
    bool fail;  /* exit code 1 after findings */
    bool began; /* MPI_Init has returned, and the end has not come */
    int rank, size; /* in MPI_COMM_WORLD */
    MPI_Comm channel;
    int found;  /* findings of the job, after the end */
    pthread_mutex_t lock;
    struct check_findings findings;
};

extern struct check check;

static inline void check_lock(void)
{
    pthread_mutex_lock(&check.lock);
}

static inline void check_unlock(void)
{
    pthread_mutex_unlock(&check.lock);
}

static inline struct check_place check_place_of(const struct weft_call *call)
{
    return (struct check_place){call->function, weft_site_of(call->site)};
}

/* Memory for a table, zeroed; aborts with a sentence if there is none. */
void *check_allocate(size_t n, size_t size);

/* ---- Modules: before and after the real call, and at the end of the job */
void check_objects_begin(struct weft_call *call);
void check_objects_end(struct weft_call *call);
void check_objects_finish(void);

void check_collectives_begin(struct weft_call *call);
void check_collectives_finish(void);
struct check_record;
void check_collectives_take(const struct check_record *record);

#endif
