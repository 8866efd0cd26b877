// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the files of the bootstrap share among themselves; nobody outside src/pmix includes it.
 *
 *   launcher.c  reads the environment: which launcher started us, and can we join its job?
 *   facts.c     asks PMIx what the launcher knows: sizes, neighbours, hosts
 *   reply.c     one answer that PMIx's own thread brings, and the wait for it
 *   failure.c   the ranks reported dead, and the launcher reported gone
 *   alone.c     what a singleton published, since it has no PMIx to keep it
 *   psets.c     the launcher's process sets
 *   boot.c      the interface, boot.h
 *
 * Invariant: launcher.c and alone.c never call PMIx; the others only between PMIx_Init and PMIx_Finalize.
 */
#ifndef WEFT_PMIX_INTERNAL_H
#define WEFT_PMIX_INTERNAL_H

#include <pmix.h>
#include <pthread.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- launcher.c */

enum weft_launch {
    WEFT_LAUNCH_SINGLETON, /* no launcher, or one that started a single process without PMIx */
    WEFT_LAUNCH_PMIX,      /* a PMIx server is announced in the environment */
    WEFT_LAUNCH_BROKEN /* a launcher started several processes and left us no PMIx to join them */
};

/* Judges the environment. name (what started us, for people) is always filled; why is filled for
 * WEFT_LAUNCH_BROKEN. */
enum weft_launch weft_launcher_detect(char *name, size_t name_len, char *why, size_t len);

/* What the user can do when PMIx is announced but cannot be joined: a clause that begins with a
 * verb and has no full stop. */
const char *weft_launcher_remedy(void);

/* ---- facts.c */

/* Remembers whose facts to ask for. size is the job's, once known. */
void weft_job_info_open(const pmix_proc_t *self, int size);

/* What this process has already been told about rank (PMIX_RANK_WILDCARD: about the job) under a
 * key, for the caller to PMIX_VALUE_RELEASE, or NULL. Never waits. */
pmix_value_t *weft_job_info_value(pmix_rank_t rank, const char *key);

/* A number the launcher knows about rank (PMIX_RANK_WILDCARD: about the job), whatever its integer
 * type. Returns false when it is not known. */
bool weft_job_info_number(pmix_rank_t rank, const char *key, int64_t *value);

/* The same for a text: a copy that the caller frees, or NULL. */
char *weft_job_info_text(pmix_rank_t rank, const char *key);

/* The ranks of the job that share this node, ascending, self among them. Returns how many and
 * stores in *ranks an array that the caller frees; 0 when memory runs out. */
int weft_job_info_neighbours(int **ranks);

/* For each rank the lowest rank on its node. False when the launcher has no complete map. */
bool weft_job_info_nodes(int32_t *first);

/* The host of a rank into buf. Returns false, and leaves buf alone, when it is not known. */
bool weft_job_info_host(int rank, char *buf, size_t len);

/* ---- reply.c */

/* Holds the question as well, since PMIx keeps pointers into it until it has answered. */
struct weft_reply {
    pmix_proc_t from;
    pmix_key_t key;
    pmix_info_t how[2]; /* how_count of them loaded; freed with the reply */
    size_t how_count;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done, abandoned;
    pmix_status_t status; /* valid after WEFT_AWAIT_DONE, like the two below */
    void *bytes;          /* of the value; freed with the reply */
    size_t size;
};

/* A reply to hand to PMIx as callback data; NULL when memory runs out. */
struct weft_reply *weft_reply_new(void);

/* The callbacks to give to PMIx_Fence_nb and PMIx_Get_nb. The second copies a byte object. */
void weft_reply_done(pmix_status_t status, void *reply);
void weft_reply_value(pmix_status_t status, pmix_value_t *value, void *reply);

enum weft_await {
    WEFT_AWAIT_DONE,    /* the answer is there */
    WEFT_AWAIT_TIMEOUT, /* deadline passed */
    WEFT_AWAIT_DEAD,    /* a rank it depends on is dead */
    WEFT_AWAIT_LOST     /* the launcher is gone */
};

#define WEFT_REPLY_FROM_ALL (-1)

/* What is called (NULL: nothing) while something is waited for: over and over, or between long naps. */
struct weft_meanwhile {
    void (*call)(void *);
    void *arg;
    bool often;
};

/* Waits for the answer.
 * from: the rank whose death makes the wait pointless, or WEFT_REPLY_FROM_ALL. deadline: seconds of
 * weft_reply_clock, 0 for none. On anything but WEFT_AWAIT_DONE the reply belongs to PMIx's thread
 * from then on and the caller must forget it. */
enum weft_await weft_reply_await(struct weft_reply *reply, int from, double deadline,
                                 struct weft_meanwhile meanwhile);

void weft_reply_free(struct weft_reply *reply);

/* Seconds on a clock that only goes forward. */
double weft_reply_clock(void);

/* ---- failure.c */

/* Starts to listen for deaths among the size ranks of self's job. Returns 0, or -1 when memory runs
 * out. A launcher that reports no deaths is no error: nothing will ever be reported then. */
int weft_failure_open(const pmix_proc_t *self, int size);

/* Ends the listening; call it after PMIx_Finalize, when no handler can run any more. */
void weft_failure_close(void);

/* Was this rank (WEFT_REPLY_FROM_ALL: any rank) reported dead? */
bool weft_failure_reported(int rank);

/* The lowest rank reported dead, -1 for none. */
int weft_failure_lowest(void);

/* Did the connection to the launcher break? */
bool weft_failure_launcher_lost(void);

/* ---- boot.c, for psets.c: the job's name at the launcher, or NULL for a singleton. */
const char *weft_psets_nspace(void);

/* ---- psets.c: forgets the sets. */
void weft_psets_close(void);

/* ---- alone.c */

/* Keeps a copy of a value under a key. Returns 0, or -1 when memory runs out. */
int weft_singleton_publish(const char *key, const void *value, size_t bytes);

/* The value kept under key and its length, or NULL. */
const void *weft_singleton_find(const char *key, size_t *bytes);

/* Forgets everything. */
void weft_singleton_close(void);

#endif
