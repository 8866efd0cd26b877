// SPDX-License-Identifier: BSD-3-Clause
/*
 * Foreign processes: processes of other jobs, with which this one has a communicator (core/comm/
 * connect.h), or had one. A foreign process is known by its job's identity and its rank there.
 *
 * Groups, channels and peers name a foreign process by a number from weft.job.size on, where ranks
 * of this job have their world rank. The number is valid in this process only: a message that names
 * processes contains their contacts.
 *
 * A job without foreign processes has no memory and no lane for them.
 *
 * Invariants:
 *  - A number is taken while a group contains it, and then belongs to one process.
 *  - `comms` counts the communicators with the process. While it is 0 there is no connection to it,
 *    or the lane is closing it.
 *  - The peer of a foreign process has VCI number 0, and its memory is valid to the end of MPI.
 */
#ifndef WEFT_FOREIGN_H
#define WEFT_FOREIGN_H

#include "core/base/siphash.h"
#include "core/message/process.h"

enum { WEFT_CONTACT_LANE_BYTES = 128, WEFT_HOST_SHOWN = 63 };

/* The description of a process for processes of other jobs: names end with 0. */
struct weft_contact {
    struct weft_key job; /* the job's identity: random, the same at all its ranks */
    int32_t rank;
    uint32_t pid, tag_ub; /* tag_ub: of struct weft_process, the same at all ranks of the job */
    char job_name[44], host[WEFT_HOST_SHOWN + 1];
    unsigned char lane[WEFT_CONTACT_LANE_BYTES]; /* where its lane listens */
};

/* Each meeting makes a key of each pair of its processes. A connection may begin with any key that
 * both have. They differ in the order, and in the last few, if several threads meet the same
 * processes at the same time; as many meetings may run at once. */
enum { WEFT_FOREIGN_KEYS = 16 };

struct weft_foreign {
    struct weft_contact contact;
    int number;
    int refs;                                /* groups that contain it */
    int comms;                               /* communicators over such groups */
    struct weft_key keys[WEFT_FOREIGN_KEYS]; /* of the pair, the latest first, so many */
    int nkeys;
    bool dead;               /* nothing is exchanged with it any more, */
    bool left;               /* because it has called MPI_Finalize, and all that it sent is here, */
    char why[320];           /* or because of this */
    bool reported;           /* the operations that need it were ended */
    struct weft_peer *peer;  /* NULL before first contact */
    struct weft_peer *spare; /* the memory of the peer of an earlier process of this number, to
                                which no kept message refers */
    struct weft_foreign *chained;
};

/* The numbers that were ever taken are below weft.job.size plus this. */
extern WEFT_HIDDEN int weft_foreign_count;

static inline bool weft_is_foreign(int world)
{
    return world >= weft.job.size;
}

/* The process with a number that a group contains. */
struct weft_foreign *weft_foreign_of(int world);

/* The process of a job and a rank there, or NULL. */
struct weft_foreign *weft_foreign_find(struct weft_key job, int rank);

/* The next process with a number that is taken, after this one (NULL: the first), or NULL. */
struct weft_foreign *weft_foreign_next(const struct weft_foreign *after);

/* Before the first fence of a job of several ranks: rank 0 publishes the job's identity, which the
 * others fetch when they meet a process of another job. Visible with the next weft_boot_publish. */
void weft_contact_publish(void);

/* Fills the contact of this process but for `lane`. False with the error sentence set. */
bool weft_contact_own(struct weft_contact *own);

/* The world rank or number of the process that a contact from another process describes; key: of
 * the pair (NULL: unchanged). A new number has no reference yet, and belongs to the process until
 * weft_foreign_tidy. Returns -1 if the contact describes no process, or memory is short, with the
 * error sentence set. */
int weft_foreign_number(const struct weft_contact *contact, const struct weft_key *key);

/* Gives back the numbers that no group contains. */
void weft_foreign_tidy(void);

/* A group contains the process (+1), or does not any more (-1). */
void weft_foreign_refer(int world, int by);

/* A communicator contains the process (+1), or does not any more (-1): with the last one the lane
 * closes the connection. */
void weft_foreign_join(int world, int by);

/* The process is dead, or has left MPI; the operations that need it end by weft_failure_check. */
__attribute__((format(printf, 2, 3))) WEFT_COLD void weft_foreign_died(struct weft_foreign *foreign,
                                                                       const char *format, ...);

/* True if a process has the number, and is dead. */
bool weft_foreign_is_dead(int world);

void weft_foreign_finalize(void);

/* ---- Any process, for sentences */

/* The host of a process, and, if it is foreign, its job: "n2", or "n2 (rank 1 of job
 * weftrun-0123)". */
char *weft_process_host(int world, char *buf, size_t len);

/* True if the process is known to be dead. */
bool weft_process_has_failed(int world);

/* The same but for one that has left MPI: all its messages have arrived, those of collectives too,
 * and only an operation that needs another message from it, or has one for it, fails. */
bool weft_process_has_crashed(int world);

#endif
