// SPDX-License-Identifier: BSD-3-Clause
/*
 * The PMIx server of the ranks.
 *
 * It is never stopped, because PMIx_server_finalize of libpmix 4.2.2 can wait for ever for the lock
 * of a dead thread after a rank has died. weftrun ends by _exit, so that no code of libpmix runs;
 * all files of the server are in the scratch directory.
 */
#ifndef WEFTRUN_SERVER_H
#define WEFTRUN_SERVER_H

#include "state.h"

#include <stdint.h>

struct abort_call {
    int job, rank; /* the caller; -1 if it is no rank of a job */
    int code;
    char text[512]; /* the caller's message, may be empty */
};

/* A call of PMIx_Spawn, which makes a job. */
struct spawn_app {
    char **argv;     /* NULL-terminated; the program is the first */
    char **env;      /* "VAR=VAL", NULL-terminated */
    char *dir;       /* working directory or NULL */
    char *hosts;     /* "a,b:4", or NULL */
    char *host_file; /* or NULL */
    int count;       /* of ranks */
};

struct spawn_call {
    struct spawn_call *next; /* of those that wait */
    struct spawn_app *apps;
    int napps;
    char parent[256]; /* the caller: name of its job, and rank */
    uint32_t parent_rank;
    char *refused_key; /* a key that the caller requires and weftrun does not serve; or NULL */
    bool unnamed;      /* the caller needs no name of the job */
    void *answer;      /* the server's */
};

enum spawn_result {
    SPAWN_DONE,
    SPAWN_NOT_FOUND,     /* there is no such program */
    SPAWN_NOT_USABLE,    /* the program or its directory cannot be used */
    SPAWN_NOT_SUPPORTED, /* a key */
    SPAWN_NO_SPACE,      /* a limit of the machine, or memory */
    SPAWN_FAILED,        /* a rank ended before it joined MPI */
};

/* Starts PMIx's server with job->scratch and registers the job and its ranks. *wake becomes a
 * descriptor that is readable when weft_server_aborted or weft_server_next_spawn has a call to
 * return, and when a rank of a spawned job has joined. Returns 0, or -1 after
 * printing why. */
int weft_server_start(struct job *job, int *wake);

/* The oldest call of PMIx_Spawn that has not been returned; NULL: there is none. */
struct spawn_call *weft_server_next_spawn(void);

/* Passes the result of a call to its caller; nspace: the name of the new job, or "". Once for each
 * call. */
void weft_server_answer_spawn(struct spawn_call *call, enum spawn_result result,
                              const char *nspace);

/* Frees a call that is answered. */
void weft_server_free_spawn(struct spawn_call *call);

/* Registers a spawned job and its ranks. Returns 0, or -1 after printing why. */
int weft_server_add(struct job *job);

/* Removes the names that a rank has published, which has ended. */
void weft_server_forget_names(const struct rank *rank);

/* Forgets a job whose ranks have ended. Returns true if no upcall refers to them any more; false if
 * libpmix keeps the job, because a rank ended before it had connected: the job must not be freed.
 */
bool weft_server_remove(const struct job *job);

/* Adds the variables of rank's PMIx client to *env, an array like environ; the array and its
 * strings are from malloc. Returns 0, or -1 after printing why. */
int weft_server_env(const struct rank *rank, char ***env);

/* Sends the event PMIX_ERR_PROC_ABORTED for a dead rank to the other ranks. */
void weft_server_tell_death(const struct rank *rank);

/* Returns the first PMIx_Abort of any rank, once; false if there is none. */
bool weft_server_aborted(struct abort_call *call);

#endif
