// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bootstrap: who am I, who is near me, how do I find the others, how do we end. The only module
 * that talks to PMIx, and the only one that knows what launchers there are.
 *
 * Invariant: a singleton (a process that no launcher started) never calls PMIx; after a failed
 * PMIx_Init nothing of PMIx is called again, not even PMIx_Finalize.
 *
 * Functions that can fail return 0, or -1 with one sentence for the user in why (what failed, on
 * which host, and the next step). All are called from one thread at a time, except where noted.
 */
#ifndef WEFT_BOOT_H
#define WEFT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_job {
    int rank, size;             /* in MPI_COMM_WORLD */
    int local_rank, local_size; /* among the ranks of this node */
    int appnum;                 /* index of the application in an MPMD launch, else 0 */
    int universe;               /* slots the launcher can fill, -1 unknown */
    bool singleton;             /* no launcher: a job of one */
    bool one_node;              /* every rank runs on this node */
    const int *local_peers;     /* world ranks on this node, ascending, local_size of them */
    char host[256];             /* this node's name */
    char nspace[256];           /* the job's name at the launcher; "singleton" without one */
    char launcher[64];          /* what was found, for people: "weftrun", "srun", "mpirun"… */
};

/* Finds out how this process was started and joins the job. Fills *job, which stays owned by the
 * caller but whose local_peers belong to the module until weft_boot_finalize. */
int weft_boot_init(struct weft_job *job, char *why, size_t len);

/* Publishes a value of this rank, of size bytes, for all ranks of the job; visible after
 * weft_boot_fence. */
int weft_boot_publish(const char *key, const void *bytes, size_t size, char *why, size_t len);

/* The same, but leaves it to the next weft_boot_publish to show the value. A rank whose values are
 * fetched before a fence shows them all at once: what it shows later, PMIx (4.2) finds for some
 * ranks after seconds only. */
int weft_boot_put(const char *key, const void *bytes, size_t size, char *why, size_t len);

/* A barrier over the job that also makes published values available. While it waits it calls
 * progress(arg) over and over (NULL: it just waits), thousands of times a second.
 * Fails within seconds when a rank is reported dead, even if the living have met, or when the
 * launcher is gone. But srun does not report a rank that was killed on another node: progress must
 * notice that by its own means and abort. For start-up, not for long waits: an abort while ranks
 * are in a fence can crash or hang the server's end (libpmix 4.2), that is, mpirun itself. */
int weft_boot_fence(void (*progress)(void *), void *arg, char *why, size_t len);

/* The same where nothing has to be moved meanwhile: it sleeps, and calls tell(arg) (NULL: nothing) some
 * times a second. Hundreds of ranks that poll instead take the cores from those they wait for. */
int weft_boot_fence_telling(void (*tell)(void *), void *arg, char *why, size_t len);

/* Fetches what a rank published: at most *bytes into value, sets *bytes to its true length (longer
 * than the room: an error). Waits for a rank that has not published yet, at most timeout_s seconds;
 * a rank reported dead ends the wait early. */
int weft_boot_fetch(int rank, const char *key, void *value, size_t *bytes, int timeout_s, char *why,
                    size_t len);

/* The host of a rank, or "an unknown host". Returns buf. */
char *weft_boot_host(int rank, char *buf, size_t len);

/* For each rank of the job, the lowest rank on its node, as the launcher's map of the job has it: so
 * the answer is the same at every rank. False, at every rank, when there is no complete map. */
bool weft_boot_nodes(int32_t *first);

/* The process sets that the launcher has named, beyond those that every job has: how many; the name
 * of one, NULL if there is no such; its size, and the rank of a member. */
int weft_boot_psets(void);
const char *weft_boot_pset_name(int set);
int weft_boot_pset_size(int set);
int weft_boot_pset_member(int set, int i);

/* Stands for the launcher itself among the failures. */
#define WEFT_BOOT_LAUNCHER (-1)

/* The next rank that the launcher reported dead and that was not returned before, or, once,
 * WEFT_BOOT_LAUNCHER when the launcher itself is gone: nobody will end this job or pass on the
 * death of a rank any more. Returns false when there is none. Cheap (one load) when nothing
 * happened; safe from any thread. Few launchers report deaths (srun and mpirun end the job instead):
 * silence proves nothing. */
bool weft_boot_next_failure(int *rank);

/* Whether the launcher has reported that rank, or anybody, dead. Cheap, safe from any thread. */
#define WEFT_BOOT_ANYBODY (-2)
bool weft_boot_has_failed(int rank);

/* Ends the whole job with exit code code through the launcher: 1..255 reach the shell unchanged, of
 * others the low byte, and 1 instead of 0. Flushes the program's stdio; message goes to stderr by
 * the caller, here only to the launcher. Gives the launcher ten seconds. Callable from any thread;
 * does not return. */
_Noreturn void weft_boot_abort(int code, const char *message);

/* Leaves the job. After it nothing of this module may be called. */
int weft_boot_finalize(char *why, size_t len);

#endif
