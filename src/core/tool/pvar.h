// SPDX-License-Identifier: BSD-3-Clause
/*
 * Performance variables of MPI_T (MPI 5.0 section 15.3.7): their table, sessions and handles.
 *
 * A sum (class counter, aggregate or timer) always runs. Starting, stopping and resetting apply to
 * a handle, which stores what it has added up and the sum at its start. A high watermark is tracked
 * once for all handles: a reset first stores the maximum so far in all other handles. Levels, sizes
 * and states are read directly.
 */
#ifndef WEFT_PVAR_H
#define WEFT_PVAR_H

#include "core/tool/tool.h"

struct weft_peak;

/* The first of word, peak, value and of_rank that is not NULL yields the value. Times and
 * percentages are in billionths. */
struct weft_pvar_row {
    const char *name;
    int class;
    enum weft_tool_category category;
    bool all; /* counted only with WEFT_COUNTERS=all */
    const uint64_t *word;
    struct weft_peak *peak; /* its maximum if the class is a high watermark */
    uint64_t (*value)(void);
    uint64_t (*of_rank)(int world);  /* one value for each rank of a communicator */
    MPI_T_enum (*enumeration)(void); /* of a state */
    const char *help;
};

extern const struct weft_pvar_row weft_pvar_table[];
extern const int weft_pvar_count;

/* The datatype of a variable; whether handles add up, so that they can be started and stopped;
 * whether handles can be reset and written. */
MPI_Datatype weft_pvar_type(const struct weft_pvar_row *row);
bool weft_pvar_sums(const struct weft_pvar_row *row);
bool weft_pvar_resets(const struct weft_pvar_row *row);
static inline bool weft_pvar_of_ranks(const struct weft_pvar_row *row)
{
    return row->of_rank != NULL;
}

/* The current value; world is the rank in MPI_COMM_WORLD, for a variable of ranks. */
uint64_t weft_pvar_raw(const struct weft_pvar_row *row, int world);

/* Sessions. Functions here and below return codes of MPI_T; find returns NULL for a stale
 * handle. */
struct weft_pvar_session;
int weft_pvar_session_make(MPI_T_pvar_session *out);
struct weft_pvar_session *weft_pvar_session_find(MPI_T_pvar_session handle);
void weft_pvar_session_free(struct weft_pvar_session *session);

/* Handles. `object` points to the MPI_Comm of a variable of ranks; *count is the number of
 * values. */
struct weft_pvar_handle;
int weft_pvar_make(struct weft_pvar_session *session, int row, const void *object,
                   MPI_T_pvar_handle *out, int *count);
struct weft_pvar_handle *weft_pvar_find(struct weft_pvar_session *session,
                                        MPI_T_pvar_handle handle);
void weft_pvar_free(struct weft_pvar_session *session, struct weft_pvar_handle *handle);
int weft_pvar_start(struct weft_pvar_handle *handle);
int weft_pvar_stop(struct weft_pvar_handle *handle);
int weft_pvar_reset(struct weft_pvar_handle *handle);
int weft_pvar_read(struct weft_pvar_handle *handle, void *to);
int weft_pvar_read_and_reset(struct weft_pvar_handle *handle, void *to);
int weft_pvar_write(struct weft_pvar_handle *handle, const void *from);

/* Calls a function for all handles of a session, ignoring errors (MPI_T_PVAR_ALL_HANDLES). */
void weft_pvar_each(struct weft_pvar_session *session, int (*call)(struct weft_pvar_handle *));

#endif
