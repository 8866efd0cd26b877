// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records between ranks, on a duplicate of MPI_COMM_WORLD that only the checker uses.
 *
 * A record is sent nonblocking, and received when a rank polls: at each call of the program. A
 * module takes the records of its kind by a function in a table, which dispatch.c fills: so this
 * module refers to few others. Records of one sender arrive in order.
 *
 * Invariants:
 *  - Sending and polling never wait for another rank; only check_channel_finish does.
 *  - The channel's own lock is held while it calls MPI, and check.lock is not.
 *  - A record to the rank itself is taken at once, without a message.
 */
#ifndef WEFT_CHECK_CHANNEL_H
#define WEFT_CHECK_CHANNEL_H

#include "tools/check/finding.h"
#include "tools/check/signature.h"
#include "tools/interpose/call.h"
#include "tools/interpose/site.h"

enum check_record_kind {
    CHECK_RECORD_COLLECTIVE,
    CHECK_RECORD_MESSAGE,
    CHECK_RECORD_ACCESS,
    CHECK_RECORD_FILE,     /* an access, too */
    CHECK_RECORD_POST,     /* of MPI_Win_post, to the origins: only the key of the
                              window */
    CHECK_RECORD_QUESTION, /* of a wait, and the replies and edges: deadlocks.h */
    CHECK_RECORD_REPLY,
    CHECK_RECORD_EDGE,
    CHECK_RECORD_LOG, /* rank 0 collects the logs (buffering.h) */
    CHECK_RECORD_END, /* the job is about to end: print the findings */
    CHECK_RECORDS
};

/* A wait is for a message, for a receive, for a collective call, for MPI_Win_complete, for
 * MPI_Win_post, or for MPI_Win_unlock. */
enum check_want_kind {
    CHECK_WANT_RECEIVE,
    CHECK_WANT_SEND,
    CHECK_WANT_COLLECTIVE,
    CHECK_WANT_COMPLETE,
    CHECK_WANT_POST,
    CHECK_WANT_UNLOCK
};

struct check_record {
    enum check_record_kind kind;
    int rank; /* of the sender, in MPI_COMM_WORLD */
    enum weft_call_number call;
    struct weft_portable_site site;
    union {
        struct check_collective {
            uint64_t comm;   /* key of the communicator */
            uint64_t number; /* of the call among the collective calls on it */
            uint64_t op;
            struct check_signature signature;
            int root, size;
            bool is_compared; /* the signature is that of all ranks */
            bool is_typed;    /* its basic type is */
        } collective;
        struct check_message {
            uint64_t comm;
            struct check_signature signature;
            int64_t bytes;
            uint64_t number; /* among the messages to this rank (repeats.h) */
            int tag;
            int repeats;  /* messages that the record stands for */
            bool is_void; /* there is no message with this number (matching.h) */
        } message;
        struct check_access {
            uint64_t key;           /* of the window or file */
            uint64_t fences, point; /* the epoch, and the last common point (windows.c) */
            uint64_t low, high;     /* offsets in the target's window, or in the file */
            int how;
            bool is_passive;
        } access;
        struct check_question {
            enum check_want_kind kind;
            bool is_late;     /* the wait has lasted long */
            bool is_optional; /* deadlocks.h */
            bool is_other;    /* of a reply: the rank has made another collective call */
            uint64_t comm, number;
            uint64_t shape;      /* of a collective call */
            uint64_t generation; /* of the questions of this wait */
            int edge;
            uint64_t epoch; /* of a reply */
        } question;
        struct check_edge {
            uint64_t epoch, generation;
            int group, expected; /* edges of the group */
            int other;           /* rank in MPI_COMM_WORLD */
            uint64_t other_epoch;
            enum check_want_kind kind;
            enum weft_call_number call;
            int tag;
        } edge;
    };
};

/* The call of a record, of whichever rank. */
static inline struct check_location check_location_in(const struct check_record *record)
{
    return (struct check_location){&weft_functions[record->call], weft_site_unpack(record->site)};
}

extern void (*check_channel_take[CHECK_RECORDS])(const struct check_record *record);

enum { CHECK_RECORD_TAG = 1, CHECK_LOG_TAG };

void check_channel_begin(void);
void check_channel_send(int rank, struct check_record *record);

/* Receives what has arrived. */
void check_channel_poll(void);

/* A round of a wait: polls in one of 8; after CHECK_SPINS rounds it polls in each, and gives the
 * processor to others. */
enum { CHECK_SPINS = 200 };
void check_channel_pause(int round);

/* Returns when all records of all ranks are received; collective. Only replies are sent until all
 * ranks have called it, and nothing afterwards. */
void check_channel_finish(void);

#endif
