// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations that a later call completes: those of active and persistent requests, and messages
 * that MPI_Mprobe returned. One thread calls MPI.
 */
#ifndef WEFT_PROFILE_OPERATIONS_H
#define WEFT_PROFILE_OPERATIONS_H

#include "tools/profile/shared.h"

struct profile_comm; /* profile.h */

struct profile_operation {
    const void *handle; /* NULL: free */
    uint64_t key, posted;
    const struct profile_comm *comm; /* of a receive whose source or tag is not known yet */
    uint64_t bytes;                  /* of a send */
    int32_t peer, tag;               /* tag: of a send */
    uint32_t n;
    uint8_t asks_for;
    bool active, persistent, synchronous;
    bool other; /* it has no message of this rank alone: only its time is kept */
};

extern struct profile_operations {
    int n;
    int wild; /* active receives whose source or tag is not known yet */
} profile_operations;

/* NULL: it is not known. */
struct profile_operation *profile_operation_find(const void *handle);

/* Adds a copy. Its handle is not known. False: there are too many. */
bool profile_operation_add(const struct profile_operation *operation);

void profile_operation_drop(struct profile_operation *operation);

#endif
