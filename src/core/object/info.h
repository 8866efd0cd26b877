// SPDX-License-Identifier: BSD-3-Clause
/*
 * Info objects: keys and values, both strings, in the order in which they were first set (MPI 5.0
 * chapter 10). They know nothing of the rest of the library, and exist before and after it.
 *
 * Invariant: keys are different from one another, at most MPI_MAX_INFO_KEY - 1 characters long, and
 * not empty; values at most MPI_MAX_INFO_VAL - 1.
 */
#ifndef WEFT_INFO_H
#define WEFT_INFO_H

#include "core/object/handle.h"
#include "mpi.h"

#include <stdbool.h>

struct weft_info_entry {
    char *key, *value;
};

struct weft_info {
    struct weft_object object;
    int count, room;
    struct weft_info_entry *entries;
    bool predefined; /* MPI_INFO_ENV: cannot be changed */
};

/* MPI_INFO_ENV; filled by weft_info_fill_env. */
extern struct weft_info weft_info_env;

/* Makes MPI_INFO_ENV valid. Called once. */
void weft_info_init(void);

/* An empty one. NULL when memory is short, the sentence said. */
struct weft_info *weft_info_make(void);
void weft_info_free(struct weft_info *info);

/* A copy. NULL when memory is short, the sentence said. */
struct weft_info *weft_info_dup(const struct weft_info *info);

/* Sets a key. The last function returns MPI_ERR_INFO_KEY or _VALUE for strings that are too long or
 * empty, MPI_ERR_NO_MEM; the sentence is said. */
int weft_info_set(struct weft_info *info, const char *key, const char *value);

/* The value of a key, or NULL. info may be NULL (MPI_INFO_NULL). */
const char *weft_info_get(const struct weft_info *info, const char *key);

/* Takes a key out. False when it is not there. */
bool weft_info_delete(struct weft_info *info, const char *key);

/* Writes what MPI_INFO_ENV tells: how the program was started (MPI 5.0, 11.5.2). argv is that of the
 * program, or NULL: then the system is asked. Returns an error class, the sentence said. */
int weft_info_fill_env(struct weft_info *info, int argc, char *const *argv);

static inline struct weft_info *weft_info_resolve(MPI_Info handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_INFO);
}

#endif
