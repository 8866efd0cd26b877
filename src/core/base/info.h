// SPDX-License-Identifier: BSD-3-Clause
/*
 * Info objects: strings by key, in the order in which the keys were first set (MPI 5.0 chapter 10).
 * Usable before, during and after MPI.
 *
 * Invariant: keys are unique, not empty, and shorter than MPI_MAX_INFO_KEY; values are shorter than
 * MPI_MAX_INFO_VAL.
 */
#ifndef WEFT_INFO_H
#define WEFT_INFO_H

#include "core/base/handle.h"
#include "mpi.h"

#include <stdbool.h>

struct weft_info_entry {
    char *key, *value;
};

struct weft_info {
    struct weft_object object;
    int count, space;
    struct weft_info_entry *entries;
    bool predefined; /* MPI_INFO_ENV: read-only for users */
};

/* MPI_INFO_ENV; filled by weft_info_fill_env. */
extern struct weft_info weft_info_env;

/* Make an empty info object and a copy. Return NULL if memory is short, recorded. */
struct weft_info *weft_info_make(void);
struct weft_info *weft_info_dup(const struct weft_info *info);

void weft_info_free(struct weft_info *info);

/* Sets a key. Returns MPI_SUCCESS, or MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE or MPI_ERR_NO_MEM,
 * recorded. */
int weft_info_set(struct weft_info *info, const char *key, const char *value);

/* The value of a key, or NULL. info may be NULL (MPI_INFO_NULL). */
const char *weft_info_get(const struct weft_info *info, const char *key);

/* True if a key has that value. info may be NULL. */
bool weft_info_is(const struct weft_info *info, const char *key, const char *value);

/* Removes a key. Returns false if it is not set. */
bool weft_info_delete(struct weft_info *info, const char *key);

/* Sets the keys of MPI_INFO_ENV (MPI 5.0, 11.5.2). argv holds the program's arguments; if NULL,
 * they are read from /proc/self/cmdline. Returns MPI_SUCCESS or an error class, recorded. */
int weft_info_fill_env(struct weft_info *info, int maxprocs, int argc, char *const *argv);

static inline struct weft_info *weft_info_resolve(MPI_Info handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_INFO);
}

#endif
