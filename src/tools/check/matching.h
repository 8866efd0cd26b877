// SPDX-License-Identifier: BSD-3-Clause
/*
 * The match of receives and messages: the records of messages, in the order of their sends, and the
 * posted receives, in the order of their posts. See messages.h for the rules.
 *
 * The receiver keeps two lists: arrivals, the records of each source that no receive has matched,
 * in the order of the sends of one communicator and tag; and posted receives, in the order in which
 * they were posted. MPI matches messages of one source, tag and communicator in that order on both
 * sides, so the first arrival belongs to the first posted receive. The envelope of a receive with a
 * wildcard is known when it completes; until then no later receive that it may precede is matched.
 * Both entries are freed when the message is matched and received.
 *
 * A send that was cancelled has no message: a second record, with the same number, drops the first
 * one. If it is not known whether there is a message, the second record has CHECK_NO_NUMBER, and
 * the communicator becomes uncompared.
 *
 * A communicator is uncompared once the lists may be incomplete: after a call in error, a receive
 * that was freed or cancelled late, or a message of a call that was not seen.
 *
 * Invariants:
 *  - The size of a completed receive is that of its arrival. If it is not, calls were not seen
 *    (PMPI_Send), and the communicator becomes uncompared.
 *  - There is no lock: under MPI_THREAD_MULTIPLE no record is sent and no receive is posted.
 */
#ifndef WEFT_CHECK_MATCHING_H
#define WEFT_CHECK_MATCHING_H

#include "tools/check/channel.h"
#include "tools/check/check.h"

enum { CHECK_ANY = -1 }; /* a source or tag that is not known before the receive is complete */

#define CHECK_NO_NUMBER UINT64_MAX /* of no message */

/* The data of one side of a call. */
struct check_side {
    struct check_signature all, one;
    int64_t bytes;
    struct check_location location;
};

/* A receive or matched probe, from the post until it is complete and its message is known. */
struct check_posted {
    struct check_posted *next, **at;
    uint64_t comm;
    int source, tag;
    int made_with;     /* the source that a call with MPI_ANY_SOURCE was made with */
    bool is_described; /* false: of MPI_Mprobe, whose MPI_Mrecv has not been called */
    bool is_complete;  /* received */
    bool is_reported;  /* a finding has been reported */
    struct check_side side;
    int64_t bytes; /* received */
    struct check_arrival *arrival;
    int log; /* the entry of its post (buffering.h) */
};

void check_matching_begin_job(void);

/* A record of a message has arrived. */
void check_matching_take(const struct check_record *record);

bool check_matching_is_uncompared(uint64_t comm);
void check_matching_set_uncompared(uint64_t comm);

/* Adds a receive to the list, and removes one. */
struct check_posted *check_matching_post(const struct check_posted *like);
void check_matching_withdraw(struct check_posted *posted);

/* False: the first record that a receive would match is that of another message than it is for. The
 * message is an error of the program, or was cancelled. */
bool check_matching_fits(const struct check_posted *posted);

/* Matches a receive if its message has arrived; it may be freed then. */
bool check_matching_match(struct check_posted *posted);

/* After each change of a matched receive: reports what is known, and frees it when all is. */
void check_matching_settle(struct check_posted *posted);

/* The receive is complete, with this status. */
void check_matching_complete(struct check_posted *posted, const MPI_Status *status);

/* True if the record of the message of a completed receive has arrived, or may be counted by a
 * record to come (repeats.h). NULL: there is no receive. */
bool check_matching_is_matched(const struct check_posted *posted);

/* The record has not come. If it may be counted, the message is truncated: the sender computes, and
 * sends the count too late. Else the communicator becomes uncompared. */
void check_matching_stop(struct check_posted *posted);

/* True if a message is here that the receive, or one with this envelope, may have matched. */
bool check_matching_has_arrived(const struct check_posted *posted);
bool check_matching_has_message(uint64_t comm, int source, int tag);

/* True if a message of a rank is here, and no posted receive may have matched it. */
bool check_matching_is_unmatched(int rank, uint64_t number);

/* After check_channel_finish: reports the messages that no receive has matched. */
void check_matching_finish(void);

#endif
