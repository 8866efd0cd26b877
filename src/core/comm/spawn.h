// SPDX-License-Identifier: BSD-3-Clause
/*
 * Spawned processes (MPI 5.0 section 11.8). The root opens a port, requests the start of the
 * processes from the launcher (pmix/boot.h) with the port in their environment, and all parents
 * accept there; the children connect in MPI_Init.
 *
 * Functions return an MPI error class, with the error sentence set. All VCIs are held, but in
 * weft_spawn_connect.
 */
#ifndef WEFT_SPAWN_H
#define WEFT_SPAWN_H

#include "core/base/info.h"
#include "core/comm/comm.h"

/* One program, as MPI_Comm_spawn has it. */
struct weft_spawn_program {
    const char *command;
    char *const *args; /* NULL-terminated, or NULL */
    int count;         /* of processes, at most */
    const struct weft_info *info;
};

/* MPI_Comm_spawn_multiple over n programs, which are significant at the root. failed: an error
 * class with which this process enters, or MPI_SUCCESS. errcodes: space for the counts of all
 * programs, or NULL. */
int weft_comm_spawn(const struct weft_spawn_program *programs, int n, int root,
                    struct weft_comm *comm, int failed, int *errcodes, struct weft_comm **out);

/* Before: the initial error handler that the parents have set for this process, as its index in
 * weft_errhandlers_initial, or `otherwise`. */
int weft_spawn_errhandler(int otherwise);

/* In MPI_Init: connects to the parents, if this process was spawned. */
int weft_spawn_connect(void);

/* The communicator with the parents, or NULL: it was freed, or this process was not spawned.
 * weft_spawn_forget: a communicator is freed. */
struct weft_comm *weft_spawn_parent(void);
void weft_spawn_forget(const struct weft_comm *comm);

#endif
