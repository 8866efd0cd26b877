// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the files of the player share: this rank's requests, the data of a message, and how a
 * mistake is reported.
 *
 * Invariant: every buffer that the library was given stays allocated until the schedule is over;
 * one of a complete send is overwritten, so that who reads it too late sends rubbish.
 */
#ifndef WEFT_FUZZ_FUZZ_H
#define WEFT_FUZZ_FUZZ_H

#include "schedule.h"

#include <mpi.h>

#include <stddef.h>

/* Notes a failure, with the seed and round that repeat it, unless cond holds. */
#define EXPECT(cond, ...)                                                                          \
    do {                                                                                           \
        if (!(cond))                                                                               \
            fuzz_failed(__FILE__, __LINE__, __VA_ARGS__);                                          \
    } while (0)
/* An MPI call that must succeed. */
#define GOOD(call)                                                                                 \
    do {                                                                                           \
        int class_ = fuzz_class(call);                                                             \
        EXPECT(class_ == MPI_SUCCESS, "%s returned class %d", #call, class_);                      \
    } while (0)
__attribute__((format(printf, 3, 4))) void fuzz_failed(const char *file, int line,
                                                       const char *format, ...);
int fuzz_class(int code);

/* ---- data.c: elements, guarded buffers, which are of check_alloc() */

struct fuzz_buffer {
    unsigned char *base, *data;
    int type, room; /* elements */
    size_t total;
};

MPI_Datatype fuzz_datatype(int type);
struct fuzz_buffer fuzz_buffer_new(int type, int room, uint64_t *random);
void fuzz_buffer_free(struct fuzz_buffer *b);
void fuzz_buffer_fill(struct fuzz_buffer *b, int count, uint64_t pattern);
/* All of it is guard again. */
void fuzz_buffer_wipe(struct fuzz_buffer *b);
/* The first element from `first` to count - 1 that is not as filled, or count. */
int fuzz_buffer_differs(const struct fuzz_buffer *b, int first, int count, uint64_t pattern);
/* Whether nothing was written but the data of the first count elements. */
bool fuzz_buffer_intact(const struct fuzz_buffer *b, int count);

/* ---- What runs: one for each operation of this rank, while a schedule is played (play.c) */

struct fuzz_run {
    const struct fuzz_op *op;
    struct fuzz_buffer out, in; /* of a replacing one only `in` */
    bool done, received;        /* its outcome is in st */
    MPI_Status st;
    MPI_Request posted[FUZZ_BATCH]; /* of FUZZ_POST_DOUBTFUL, and the next */
    struct fuzz_buffer rooms[FUZZ_BATCH];
    int cancelled; /* of FUZZ_CANCEL_SEND: what is told, a bit for each message */
};

/* Every thread that plays has its own of all that changes. */
extern _Thread_local const struct fuzz_schedule *fuzz_now;
extern _Thread_local MPI_Comm fuzz_comms[FUZZ_COMMS];
extern _Thread_local uint64_t fuzz_dice; /* of this rank: what it does in which form */
extern _Thread_local uint64_t fuzz_round_seed;
extern _Thread_local int fuzz_at; /* the operation begun last */
extern int fuzz_me;               /* rank in comm 0 */

/* A rank of comm 0 in another communicator, and what belongs to a message. */
int fuzz_rank_in(int comm, int world);
uint64_t fuzz_pattern(int message);

/* Plays this rank's part from its first operation to its last, and checks everything. */
void fuzz_play(const struct fuzz_schedule *s, uint64_t seed);

/* Says what comes next, for the watchdog; NULL: the end of the schedule. */
void fuzz_step(int index, const struct fuzz_op *op);

/* ---- complete.c: requests that are open, completed by any form of wait and test */

/* Adds one. For persistent ones handle is where its handle lives; else NULL. */
void fuzz_open(MPI_Request request, struct fuzz_run *run, MPI_Request *handle);
/* Completes some, or nothing. now: blocks only for what is certain before. */
void fuzz_complete_some(int now);
/* Completes the run's request, which is certain. */
void fuzz_complete_one(const struct fuzz_run *run, int now);
void fuzz_complete_all(void);

/* ---- outcome.c: is what came what had to come? */

/* An operation's outcome: the class of its error (below 0: not known), its status or NULL. */
void fuzz_check_outcome(struct fuzz_run *run, int class, const MPI_Status *st);
/* A message in a buffer, its tag as sent; truncation is expected when it has more elements than
 * there is room. */
void fuzz_check_message(int message, const struct fuzz_buffer *in, int class, const MPI_Status *st,
                        const char *how);
/* The receives from any source, once all of them are done. */
void fuzz_check_wild(struct fuzz_run *runs, int n);

#endif
