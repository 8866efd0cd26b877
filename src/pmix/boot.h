// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bootstrap: joins the job, describes it, exchanges small values between ranks, reports dead ranks,
 * leaves or aborts the job. Only src/pmix calls PMIx and handles differences between launchers. A
 * launcher without PMIx is joined by PMI-1: it reports no dead ranks and has no process sets.
 *
 * Invariant: a singleton (a process without a launcher) never calls PMIx; after a failed PMIx_Init
 * no PMIx function is called, not even PMIx_Finalize, which would crash.
 *
 * Functions that can fail return 0, or -1 with a sentence for the user in why (operation, host,
 * next step). One thread at a time calls this module, except where noted.
 */
#ifndef WEFT_BOOT_H
#define WEFT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_job {
    int rank, size;             /* in MPI_COMM_WORLD */
    int local_rank, local_size; /* among the ranks of this node; 0 of 1 without a node map */
    int appnum;                 /* index of the application in an MPMD launch, else 0 */
    int universe;               /* the launcher's number of slots, or -1 */
    bool singleton;             /* no launcher: a job of one */
    bool one_node;              /* every rank runs on this node */
    bool has_node_map;          /* the launcher gives the node of each rank */
    const int *local_peers;     /* world ranks on this node, ascending, local_size of them */
    char host[256];             /* this node's name */
    char nspace[256];           /* the job's name at the launcher; "singleton" without one */
    char launcher[64];          /* for messages: "weftrun", "srun", "mpirun"… */
};

/* Detects the launcher, joins the job and fills *job. job->local_peers is freed by
 * weft_boot_finalize. If another process of this host has joined as this rank, which started this
 * one: fails, or, if child_alone, this process becomes a job of one. */
int weft_boot_init(struct weft_job *job, bool child_alone, char *why, size_t len);

/* In a forked child of a process that has joined: it is no rank, and weft_boot_abort ends it alone.
 * Async-signal-safe. */
void weft_boot_forked(void);

/* Publishes a value of this rank for the other ranks of the job; visible after weft_boot_fence, by
 * PMIx also before it. */
int weft_boot_publish(const char *key, const void *bytes, size_t size, char *why, size_t len);

/* True if a fetch waits until the rank has published the value. With PMI-1 it finds only what was
 * published before the last fence. */
bool weft_boot_fetch_waits(void);

/* As weft_boot_publish, but the value becomes visible with the next weft_boot_publish. A rank whose
 * values are fetched without a fence commits them together, because PMIx 4.2 finds values that are
 * committed later after seconds only. */
int weft_boot_put(const char *key, const void *bytes, size_t size, char *why, size_t len);

/* A barrier of the job after which published values are available. It calls progress(arg) thousands
 * of times a second (NULL: it sleeps). It fails within seconds if a rank is reported dead or the
 * launcher is lost. srun does not report a rank killed on another node, so progress must detect
 * that and abort. Only for start and end: an abort while ranks are in a fence can crash or hang the
 * server of libpmix 4.2, that is, mpirun. */
int weft_boot_fence(void (*progress)(void *), void *arg, char *why, size_t len);

/* The same for a rank with nothing to progress: it sleeps, and calls report(arg) (NULL: nothing)
 * about 20 times a second, because hundreds of polling ranks take the cores from the ranks they
 * wait for. */
int weft_boot_fence_idle(void (*report)(void *), void *arg, char *why, size_t len);

/* Fetches a rank's value: *bytes is the size of the buffer, then the length of the value; a longer
 * value is an error. By PMIx it waits at most timeout_s seconds for the rank to publish it; the
 * rank's death ends the wait. Always fails in a singleton. For any thread. */
int weft_boot_fetch(int rank, const char *key, void *value, size_t *bytes, int timeout_s, char *why,
                    size_t len);

/* The key that the launcher gave the ranks of the job outside of PMIx; false if it gave none. */
bool weft_boot_key(uint32_t *key);

/* The host of a rank, or "an unknown host". Returns buf. */
char *weft_boot_host(int rank, char *buf, size_t len);

/* For each rank of the job the lowest rank on its node, from the launcher's node map: the same at
 * every rank. NULL, at every rank, if the map is incomplete. Valid until weft_boot_finalize. The
 * first call fetches a value of each rank, or of each node. */
const int32_t *weft_boot_nodes(void);

/* The launcher's process sets. Returns their number; *sets is valid until weft_boot_finalize. */
struct weft_boot_pset {
    char *name;
    int *ranks; /* of the members */
    int size;
};
int weft_boot_psets(const struct weft_boot_pset **sets);

/* Names in the launcher's service, which all its jobs share. */
enum weft_boot_name {
    WEFT_BOOT_NAME_DONE,
    WEFT_BOOT_NAME_TAKEN,    /* it is published, by another process */
    WEFT_BOOT_NAME_UNKNOWN,  /* it is not published */
    WEFT_BOOT_NAME_UNSERVED, /* the launcher has no such service, or it failed */
};
enum weft_boot_name weft_boot_name_publish(const char *name, const char *value);
enum weft_boot_name weft_boot_name_lookup(const char *name, char *value, size_t size);
enum weft_boot_name weft_boot_name_unpublish(const char *name);

/* ---- Starting further processes (MPI_Comm_spawn): a job of their own */

struct weft_boot_app {
    const char *program;           /* a path, or a name to look for in PATH */
    char *const *args;             /* NULL-terminated, or NULL */
    int count;                     /* of processes */
    const char *dir;               /* the working directory */
    const char *hosts, *host_file; /* "a,b:4" and the name of a file, or NULL */
};

enum weft_boot_spawned {
    WEFT_BOOT_SPAWN_PENDING,
    WEFT_BOOT_SPAWN_DONE, /* by weftrun: all processes have joined their job */
    WEFT_BOOT_SPAWN_FAILED,
    WEFT_BOOT_SPAWN_UNSUPPORTED, /* the launcher starts no processes */
};

struct weft_boot_spawn;

/* True for a process without a launcher. */
bool weft_boot_is_alone(void);

/* Requests the start of n programs as one job, from the launcher or from a weftrun that this
 * process starts. The processes have the port in WEFT_PARENT_PORT_VARIABLE when they have joined
 * their job. NULL with a sentence in why and a result. Does not wait. */
struct weft_boot_spawn *weft_boot_spawn_start(const struct weft_boot_app *apps, int n,
                                              const char *port, enum weft_boot_spawned *result,
                                              char *why, size_t len);

/* The result, with a sentence in why if it is a failure. Does not wait. */
enum weft_boot_spawned weft_boot_spawn_test(struct weft_boot_spawn *spawn, char *why, size_t len);

/* Frees the object, also while the result is pending. */
void weft_boot_spawn_end(struct weft_boot_spawn *spawn);

/* The launcher, among the failures. */
#define WEFT_BOOT_LAUNCHER (-1)

/* Returns each rank that is reported dead once, and WEFT_BOOT_LAUNCHER once if the
 * connection to the launcher is lost; false if there is none. Without failures it costs one load.
 * Any thread may call it. Most launchers (srun, mpirun) end the job and report no deaths. */
bool weft_boot_next_failure(int *rank);

/* This rank has been found dead, by this process or another one: it counts as reported. For any
 * thread. */
void weft_boot_report_failure(int rank);

/* The failure with an index, in the order of the reports; false if there are fewer. For any thread.
 */
bool weft_boot_failure_at(int index, int *rank);

/* True if this rank, or any rank, has been reported dead. Cheap; for any thread. */
#define WEFT_BOOT_ANYBODY (-2)
bool weft_boot_has_failed(int rank);

/* Aborts the job through the launcher after fflush of all streams. The shell receives the low byte
 * of the exit code, 1 instead of 0. message goes to the launcher; the caller writes it to stderr.
 * Takes at most ten seconds. Any thread may call it. */
_Noreturn void weft_boot_abort(int code, const char *message);

/* Leaves the job. No function of this module may be called after it. */
int weft_boot_finalize(char *why, size_t len);

/* For weft_info, without joining a job: PMIx's description of the running library, and the version
 * of the headers; the launcher that the environment shows ("none"), false if the process cannot
 * join its job. */
void weft_boot_versions(char *running, size_t running_len, char *built, size_t built_len);
bool weft_boot_launcher(char *name, size_t name_len, char *why, size_t len);

/* The number of ranks of the job, without joining it: 1 without a launcher, 0 if it is unknown. */
int weft_boot_expected_size(void);

#endif
