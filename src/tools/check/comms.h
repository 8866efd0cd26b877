// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators by a key that all their members compute without a message: from the key of the
 * parent, the number of the constructor among the collective calls on it, and the members' ranks in
 * MPI_COMM_WORLD. The counter of a communicator numbers the collective calls on it.
 *
 * Inter-communicators and those with processes that are not in MPI_COMM_WORLD have no key and are
 * not compared.
 *
 * Invariant: on all members the counter of a communicator is the same between two collective calls
 * on it, if the program is right.
 */
#ifndef WEFT_CHECK_COMMS_H
#define WEFT_CHECK_COMMS_H

#include "tools/check/check.h"

struct check_comm {
    MPI_Comm handle;
    uint64_t key;
    uint64_t calls; /* collective calls until now */
    int leader;     /* rank in MPI_COMM_WORLD of rank 0 */
    int rank, size;
    int *world; /* the members' ranks in MPI_COMM_WORLD */
};

void check_comms_begin(void);

/* The communicator of a handle; NULL: it has no key. The lock is held. */
struct check_comm *check_comm_find(MPI_Comm handle);
struct check_comm *check_comm_find_key(uint64_t key);

/* Copies the communicator of a call; false: it has no key. */
bool check_comm_copy(const struct weft_call *call, struct check_comm *copy);

/* Before a call that may free communicators, and after one that may have made some. */
void check_comms_free(const struct weft_call *call);
void check_comms_end(const struct weft_call *call);

#endif
