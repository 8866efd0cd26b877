// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shared by the files of src/pmix only:
 *
 *   launcher.c   detects the launcher from the environment
 *   job_info.c   reads the launcher's data: sizes, neighbours, hosts
 *   reply.c      the reply to a nonblocking PMIx call, and the wait for it
 *   failure.c    dead ranks, and a lost connection to the launcher
 *   psets.c      the launcher's process sets
 *   spawn.c      starting further processes
 *   names.c      the launcher's service of published names
 *   pmi.c        PMI-1, for launchers without PMIx
 *   boot.c       the interface, boot.h
 *
 * Invariant: launcher.c and pmi.c never call PMIx, the others only between PMIx_Init and
 * PMIx_Finalize.
 */
#ifndef WEFT_PMIX_INTERNAL_H
#define WEFT_PMIX_INTERNAL_H

#include <pmix.h>
#include <pthread.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- launcher.c */

enum weft_launch {
    WEFT_LAUNCH_SINGLETON, /* no launcher, or a launcher of one process without PMIx */
    WEFT_LAUNCH_PMIX,      /* the environment names a PMIx server */
    WEFT_LAUNCH_PMI,       /* no PMIx, but a socket that serves PMI-1 */
    WEFT_LAUNCH_BROKEN     /* a launcher of several processes with neither */
};

/* Detects the launcher. Fills name (for messages), and why for WEFT_LAUNCH_BROKEN. */
enum weft_launch weft_launcher_detect(char *name, size_t name_len, char *why, size_t len);

/* The next step if the PMIx server of the environment cannot be joined: a clause that begins with a
 * verb and has no full stop. */
const char *weft_launcher_remedy(void);

/* True if the environment names a PMIx server of weftrun. */
bool weft_launcher_is_weftrun(void);

/* The value of srun's option --mpi that this process was started with, or NULL. */
const char *weft_launcher_slurm_plugin(void);

/* ---- job_file.c */

/* Writes the phase of a rank (WEFT_JOB_FILE_*) to weftrun's job file, if there is one. */
void weft_job_file_phase(int rank, unsigned char phase);

/* The number of ranks of weftrun's job, or 0 without the file. */
int weft_job_file_ranks(void);

/* ---- job_info.c */

/* Sets the job to read from; size is 1 until the job's size is known. */
void weft_job_info_open(const pmix_proc_t *self, int size);

/* The value of a key of a rank (PMIX_RANK_WILDCARD: of the job) that is in this process already,
 * for the caller to PMIX_VALUE_RELEASE; or NULL. Never waits. */
pmix_value_t *weft_job_info_value(pmix_rank_t rank, const char *key);

/* The same for a number of any integer type; false if it is unknown. */
bool weft_job_info_number(pmix_rank_t rank, const char *key, int64_t *value);

/* Stores in *ranks an array, for the caller to free, of the ranks on this node, ascending, with
 * this rank. Returns their number; 0 without memory. */
int weft_job_info_neighbours(int **ranks);

/* Writes the lowest rank on its node for each rank; false if the launcher's map is incomplete. Ends
 * the job without memory. */
bool weft_job_info_nodes(int32_t *first);

/* Writes the host of a rank; false, with buf unchanged, if it is unknown. */
bool weft_job_info_host(int rank, char *buf, size_t len);

/* ---- reply.c */

/* Also holds the arguments of the call, because PMIx keeps pointers to them until it replies. */
struct weft_reply {
    pmix_proc_t from;
    pmix_key_t key;
    pmix_info_t how[2]; /* how_count of them loaded; destroyed with the reply */
    size_t how_count;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done, abandoned;
    pmix_status_t status; /* valid when done, like the value */
    void *bytes;          /* the value, freed with the reply */
    size_t size;
};

/* A reply to pass to PMIx as callback data; NULL without memory. Freeing NULL is allowed. */
struct weft_reply *weft_reply_new(void);
void weft_reply_free(struct weft_reply *reply);

/* The callbacks of PMIx_Fence_nb and PMIx_Get_nb. The second copies a byte object. */
void weft_reply_done(pmix_status_t status, void *reply);
void weft_reply_value(pmix_status_t status, pmix_value_t *value, void *reply);

/* A function to call during a wait (NULL: none): in every poll, or between sleeps of 50 ms. */
struct weft_meanwhile {
    void (*call)(void *);
    void *arg;
    bool often;
};

/* Rounds of progress before the waiter sleeps between rounds, because PMIx's thread may need the
 * core that the waiter spins on. */
#define WEFT_ROUNDS_BEFORE_NAP 1000
#define WEFT_NAP_WITH_PROGRESS 100e-6 /* seconds: adds at most that to a message's latency */
#define WEFT_NAP_WITHOUT       50e-3  /* seconds: delays the detection of a death or a deadline */

/* Waits for a reply until the deadline (by weft_seconds(), 0: none), the death of rank
 * `from` (or WEFT_BOOT_ANYBODY), or the loss of the launcher. Returns the status of the reply, or
 * PMIX_ERR_TIMEOUT, PMIX_ERR_PROC_TERM_WO_SYNC or PMIX_ERR_LOST_CONNECTION; the reply then belongs
 * to PMIx's thread, and *reply becomes NULL. */
pmix_status_t weft_reply_await(struct weft_reply **reply, int from, double deadline,
                               struct weft_meanwhile meanwhile);

/* Leaves a reply to the callback, or frees it if the callback has come. */
void weft_reply_abandon(struct weft_reply *reply);

/* ---- failure.c */

/* Begins a list of the dead ranks of the job. Returns 0, or -1 without memory. */
int weft_failure_open(int self, int size);

/* Registers for PMIx's reports. A launcher that reports no deaths is no error. */
void weft_failure_listen(const char *nspace);

/* Forgets all failures; called after PMIx_Finalize, when no event handler can run. */
void weft_failure_close(void);

/* The lowest rank reported dead, or -1. */
int weft_failure_lowest(void);

/* True if the connection to the launcher is lost. */
bool weft_failure_launcher_lost(void);

/* ---- rank_lock.c */

/* Takes the lock of this rank; false if another process has it, with its pid in *holder (0: not
 * visible here). Without sockets there is no lock, and the result is true. */
bool weft_rank_lock_take(int *holder);

/* Safe in a forked child, where it closes the child's copy only. */
void weft_rank_lock_release(void);

/* ---- pmi.c: each function returns 0, or -1 with a sentence in why, like those of boot.h */

/* True if the environment has PMI-1; *socket then identifies the connection on this host. */
bool weft_pmi_is_available(uint64_t *socket);

struct weft_pmi {
    int rank, size, appnum, universe; /* the last two -1: unknown */
    const char *name;
    const int32_t *first; /* the lowest rank on the node of each rank; NULL: unknown */
};
int weft_pmi_join(struct weft_pmi *job, const char *launcher, char *why, size_t len);
bool weft_pmi_leave(void);

/* As weft_boot_publish and weft_boot_fetch; values that are published later than the last barrier
 * are not found. */
int weft_pmi_put(const char *key, const void *value, size_t size, char *why, size_t len);
int weft_pmi_fetch(int rank, const char *key, void *value, size_t *size, char *why, size_t len);

int weft_pmi_fence(struct weft_meanwhile meanwhile, char *why, size_t len);

/* A request to start further processes, with the commands for the launcher. */
struct weft_pmi_spawn {
    char *commands;
    enum {
        WEFT_PMI_SPAWN_UNSENT, /* another request waits for its reply */
        WEFT_PMI_SPAWN_SENT,
        WEFT_PMI_SPAWNED,
        WEFT_PMI_SPAWN_REFUSED,
        WEFT_PMI_SPAWN_LOST /* the connection to the launcher */
    } result;
};

/* Adds to the commands of a spawn a value that the started processes get by
 * weft_pmi_parent_value(), which is false without it. */
void weft_pmi_spawn_values(FILE *commands, const char *key, const char *value);
bool weft_pmi_parent_value(const char *key, char *value, size_t size);

/* Sends the request when no other one waits, and looks for the reply. Does not wait. */
void weft_pmi_spawn_test(struct weft_pmi_spawn *spawn);

/* To be called before a request is freed, whether its reply has come or not. */
void weft_pmi_spawn_abandon(const struct weft_pmi_spawn *spawn);

/* Requests the end of the job; returns at once. */
void weft_pmi_abort(int code);

/* ---- spawn.c: puts the port of the parents, if PMI-1 has it, into WEFT_PARENT_PORT_VARIABLE */
void weft_spawn_find_port(void);

/* ---- psets.c; weft_psets_nspace is in boot.c: the namespace of the job, NULL for a singleton */
const char *weft_psets_nspace(void);
void weft_psets_close(void);

/* Reaps the weftruns that spawns without a launcher have started, and that have ended. */
void weft_spawn_reap(void);

#endif
