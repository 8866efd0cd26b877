// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends that only buffering lets pass. A standard send may wait until its message is received (MPI
 * 5.0, section 3.5), so a program in which each of several ranks sends before it receives depends
 * on the memory of the library, and hangs with larger messages. A collective call, too,
 * may wait for all ranks (section 6.14), also where it needs no data of them.
 *
 * The run is not changed. Each rank keeps the order of its first calls: starts of sends and
 * receives, entries into collective calls, and what the blocking ones wait for. In MPI_Finalize
 * rank 0 executes the logs again, as if each standard send waited for the post of its receive,
 * and each collective call for all ranks. Ranks of which each then waits for another one are
 * reported, and their sends pass, so that the others are found, too.
 *
 * Invariants, so that no finding is false:
 *  - A wait that is not understood passes: for messages that are not matched in the logs, of
 *    wildcard receives, of MPI_Waitany and tests, and all sends to a rank that has posted a
 *    wildcard receive or probed for a message from any source.
 *  - A rank at the end of a log that was full waits for nothing, and others wait for it no longer.
 */
#ifndef WEFT_CHECK_BUFFERING_H
#define WEFT_CHECK_BUFFERING_H

#include "tools/check/check.h"

enum check_log_kind {
    CHECK_LOG_START,       /* of a send */
    CHECK_LOG_POST,        /* of a receive; a probe from any source is one that matches nothing */
    CHECK_LOG_ENTER,       /* into a collective call */
    CHECK_LOG_AWAIT_POST,  /* a send waits for the post of its receive */
    CHECK_LOG_AWAIT_START, /* a receive waits for its message: number is the index of its post */
    CHECK_LOG_AWAIT_ALL,   /* a collective call that waits for all ranks */
    CHECK_LOG_AWAIT_ROOT,  /* one for its root */
    CHECK_LOG_MAY_AWAIT    /* and one that may wait for all */
};

struct check_log_entry {
    enum check_log_kind kind;
    enum weft_call_number call;
    struct weft_portable_site site;
    int peer;        /* the other rank; -1: a wildcard receive */
    int from;        /* of a post: the source of its message; -1: it is not known */
    bool is_matched; /* the post names its source, and number is that of its message */
    int tag;         /* of a start or post; -1: any */
    uint64_t comm, number;
};

struct check_log {
    struct check_log_entry *entries;
    int n;
    bool is_full;
    int next; /* when the logs are executed: the first entry that has not been passed */
    bool is_wild, is_released;
};

void check_log_begin(void);

/* Adds an entry; returns its index, -1: the log is full. peer: in MPI_COMM_WORLD, -1: any. number:
 * of the message, the post, or the collective call on comm. */
int check_log_add(const struct weft_call *call, enum check_log_kind kind, int peer, uint64_t comm,
                  int tag, uint64_t number);

bool check_log_is_full(void);

/* Adds a probe from any source. Only the first one counts: a loop of probes would fill the log. */
void check_log_probe(const struct weft_call *call, uint64_t comm, int tag);

/* The message of a post is known. */
void check_log_match(int post, int source, uint64_t number);

/* At rank 0 in check_log_finish: the index of a start of a rank (a: its receiver, b: its number) or
 * of an entry into a collective call (communicator and number); -1: there is none. */
int check_log_find(int rank, enum check_log_kind kind, uint64_t a, uint64_t b);

/* At rank 0: the call of an entry, and whether its line is among n that were reported. */
struct check_location check_log_location(const struct check_log_entry *entry);
bool check_log_is_among(const struct check_log_entry *entry,
                        const struct weft_portable_site *reported, int n);

/* At rank 0 in a deadlock: asks all ranks for their logs, waits for them up to a second, and looks
 * for races. check_log_take sends the log of a rank. */
struct check_record;
void check_log_find_races(void);
void check_log_take(const struct check_record *record);

/* After check_channel_finish: gathers the logs and executes them. Collective. */
void check_log_finish(void);

#endif
