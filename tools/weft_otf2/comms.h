// SPDX-License-Identifier: BSD-3-Clause
/*
 * The communicators of a time line whose members are on it, and the collectives on them.
 */
#ifndef WEFT_OTF2_COMMS_H
#define WEFT_OTF2_COMMS_H

#include "timeline_file.h"

#include <otf2/otf2.h>

/* Numbers of the archive: the communicator of all messages; the group of ranks as locations, that
 * of the members of MPI_COMM_WORLD, and the first of other communicators. */
enum { COMM_WORLD = 0, GROUP_RANKS = 0, GROUP_WORLD, GROUP_FIRST };

/* An operation of OTF2 for a function of MPI. */
struct operation {
    uint32_t call; /* enum weft_call_number, of the form without _c */
    OTF2_CollectiveOp is;
    OTF2_RegionRole role;
};

/* NULL: the function is none. */
const struct operation *operation_of(uint32_t function);

/* Adds members of a communicator, in the order of their lines. */
void comms_add(const struct entry *entry);

/* After the last: leaves out those with members that do not exist. */
void comms_number(int ranks);

/* The number of a communicator in the archive. False: it is not known. */
bool comms_find(uint64_t id, uint32_t *number);

/* Writes the definitions of all but MPI_COMM_WORLD. name: the number of a string. */
void comms_put(OTF2_GlobalDefWriter *to, uint32_t name);

#endif
