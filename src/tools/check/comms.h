// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators by a key that all their members compute without a message: from the key of the
 * parent, the number of the constructor among the collective calls on it, and the members' ranks in
 * MPI_COMM_WORLD. The counter of a communicator numbers the collective calls on it. Windows and
 * files have an entry of the same kind, with the members of the communicator that they were made
 * of.
 *
 * Inter-communicators and those with processes that are not in MPI_COMM_WORLD have no key and are
 * not compared, nor are windows and files that are made of them.
 *
 * Invariant: on all members the counter of a communicator is the same between two collective calls
 * on it, if the program is right.
 */
#ifndef WEFT_CHECK_COMMS_H
#define WEFT_CHECK_COMMS_H

#include "tools/check/check.h"

enum { CHECK_RECENT = 8 }; /* calls, a power of 2 */

struct check_comm {
    void *handle;  /* also of a window or file */
    MPI_Comm sync; /* for barriers: the communicator, or the duplicate of a window or file */
    uint64_t key;
    uint64_t calls;                /* collective calls until now */
    uint64_t recent[CHECK_RECENT]; /* the shapes of the last of them, by their number */
    int leader;                    /* rank in MPI_COMM_WORLD of rank 0 */
    int rank, size;
    int *world; /* the members' ranks in MPI_COMM_WORLD */
};

/* A collective call as it is the same on all ranks: the function and its root. */
static inline uint64_t check_comm_shape(enum weft_call_number plain, int root)
{
    return (uint64_t)plain << 32 | (uint32_t)root;
}

/* True for communicators, windows and files. */
static inline bool check_comm_is_kind(enum weft_object_kind object)
{
    return object == WEFT_OBJECT_COMM || object == WEFT_OBJECT_WIN || object == WEFT_OBJECT_FILE;
}

void check_comms_begin(void);

/* The handle of the communicator, window or file that a call is on; NULL: it has none. */
void *check_comm_handle(const struct weft_call *call);

/* The communicator of a handle; NULL: it has no key. The lock is held. */
struct check_comm *check_comm_find(const void *handle);
struct check_comm *check_comm_find_key(uint64_t key);

/* Copies the communicator of a call; false: it has no key. */
bool check_comm_copy(const struct weft_call *call, struct check_comm *copy);

/* The process of a rank argument, in MPI_COMM_WORLD; -1: of MPI_ANY_SOURCE. False: it is none. */
bool check_comm_find_peer(const struct check_comm *comm, int64_t rank, int *world);

/* Before the real call that may free communicators, windows or files, and after one that may have
 * made some. */
void check_comms_free(const struct weft_call *call);
void check_comms_end(const struct weft_call *call);

#endif
