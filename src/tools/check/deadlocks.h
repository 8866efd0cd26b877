// SPDX-License-Identifier: BSD-3-Clause
/*
 * Deadlocks that are proved: a set of ranks of which each waits for others of the set.
 *
 * A wait that lasts longer than 50 ms gets a number, its epoch. The waiting rank asks those it
 * waits for; a rank that is in such a wait itself, or in MPI_Finalize, replies with its own epoch
 * if it has not done what the wait needs: it has posted no receive for the message that is sent,
 * has not entered the collective call, or has sent nothing else (its records have arrived before
 * the reply). So an edge states: this rank leaves its epoch only after the other has left its own.
 *
 * The edges of a wait are groups: a wait for all of several operations has a group for each, a wait
 * for any of them has one group with the edges of all. A collective call in which a rank needs no
 * data of others may wait for them nevertheless: if it lasts, these are a group. So is a rank that
 * makes another collective call instead. A group is sent to rank 0 of MPI_COMM_WORLD
 * when all its edges are proved. Rank 0 looks for the largest set of ranks of which each has a
 * group with edges to ranks of the set alone, in the epochs of these groups, or to ranks in
 * MPI_Finalize. None of the ranks can be the first one to leave its epoch, however old the edges
 * are.
 *
 * A rank is asked again when it has replied to the questions before: one that computes for hours
 * keeps few. It replies to each, with epoch 0 if it does not confirm.
 *
 * Waits that the checker cannot follow (MPI_Win_lock_all, inter-communicators) have no edges, and
 * ranks in them do not reply: nothing is reported then.
 *
 * Invariant: a confirmation is sent only inside of a wait, in which the rank starts no operation.
 */
#ifndef WEFT_CHECK_DEADLOCKS_H
#define WEFT_CHECK_DEADLOCKS_H

#include "tools/check/channel.h"
#include "tools/check/check.h"

enum { CHECK_ANY_RANK = -1, CHECK_WANTS_MAX = 64 };

/* One operation that a wait is for. */
struct check_want {
    enum check_want_kind kind;
    uint64_t comm;
    uint64_t number; /* of the message among those to the rank, of the collective call, or of the
                        exposure of a window (comm) to the rank */
    enum weft_call_number call; /* this call, and its shape */
    uint64_t shape;
    bool is_optional; /* the call may wait for it, or for another optional one */
    int rank;         /* in MPI_COMM_WORLD; CHECK_ANY_RANK: any of the communicator */
    int tag;
};

struct check_wants {
    int n;
    bool any;      /* one of them ends the wait; else all are needed */
    bool is_known; /* all operations of the wait are in the list */
    struct check_want list[CHECK_WANTS_MAX];
};

/* In each round of a wait: true if the time has come to call check_deadlocks_ask. */
bool check_deadlocks_is_due(void);
void check_deadlocks_ask(const struct weft_call *call, const struct check_wants *wants);

void check_deadlocks_leave(void);

/* This rank is in MPI_Finalize; false: all are, and it replies no more. */
void check_deadlocks_finalize(bool waits);

void check_deadlocks_take(const struct check_record *record);

#endif
