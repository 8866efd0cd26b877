// SPDX-License-Identifier: BSD-3-Clause
/*
 * The events of a time line of weftrun --trace, as src/tools/profile/timeline.c writes them: one on
 * a line, those of a thread together, each message behind the call that it belongs to.
 */
#ifndef WEFT_OTF2_TIMELINE_FILE_H
#define WEFT_OTF2_TIMELINE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    RANKS_MOST = 1 << 20,
    THREADS_MOST = 16, /* of a rank: PROFILE_BUFFERS */
    NAME_MOST = 128,
    ENTRY_MEMBERS = 64 /* of a communicator, on one line */
};

enum entry_kind { ENTRY_CALL, ENTRY_OPEN, ENTRY_SEND, ENTRY_RECEIVE, ENTRY_RANK, ENTRY_COMM };

struct entry {
    enum entry_kind kind;
    int rank, thread;
    double begin, duration; /* microseconds; of ENTRY_OPEN, a call that was not left, no duration */
    uint64_t id, bytes;     /* of a message */
    int32_t tag;
    uint64_t comm; /* of a collective, and of ENTRY_COMM; 0: none */
    int32_t root;  /* of a collective; -1: none */
    uint64_t received;
    int n; /* members of ENTRY_COMM; 0: all ranks of MPI_COMM_WORLD */
    int members[ENTRY_MEMBERS];
    char name[NAME_MOST]; /* of a call, or of a rank */
};

/* True if the file begins as a time line does. */
bool timeline_is_one(FILE *file);

/* Reads the next event. False: there is none. Lines that are none are left out. */
bool timeline_read(FILE *file, struct entry *entry);

#endif
