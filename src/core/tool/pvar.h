// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T's performance variables (MPI 5.0 section 15.3.7): the table of them, sessions, handles.
 *
 * A sum (a counter, an aggregate, a timer) never stops; it is the handle that starts, stops and
 * resets: it keeps what it has added up, and the sum as it was when it was started. A high
 * watermark is tracked once, for all handles: whoever resets it hands what was reached until then to
 * the other handles first. Levels, sizes and states are read as they are.
 */
#ifndef WEFT_PVAR_H
#define WEFT_PVAR_H

#include "core/tool/tool.h"

struct weft_peak;

/* Where the value of a variable comes from. */
enum weft_pvar_source {
    WEFT_PVAR_WORD, /* row->word */
    WEFT_PVAR_PEAK, /* row->peak: most of it for a watermark, else now */
    WEFT_PVAR_STATE,
    WEFT_PVAR_NET_SENT,
    WEFT_PVAR_SHM_SENT,
    WEFT_PVAR_SHM_ARRIVED,
    WEFT_PVAR_NET_EAGER_LIMIT,
    WEFT_PVAR_SHM_EAGER_LIMIT,
    WEFT_PVAR_SHM_BYTES,
    WEFT_PVAR_NET_POSTED,
    WEFT_PVAR_NET_COMPLETED,
    WEFT_PVAR_NET_FILL,
    WEFT_PVAR_NET_IN_FLIGHT,
    WEFT_PVAR_NET_FETCHING,
    WEFT_PVAR_POSTED,
    WEFT_PVAR_REQUEST_BYTES,
    WEFT_PVAR_PEERS,
    WEFT_PVAR_RANK_SENT, /* from here on: one value for each rank of a communicator */
    WEFT_PVAR_RANK_BYTES_SENT,
    WEFT_PVAR_RANK_RECEIVED,
    WEFT_PVAR_RANK_BYTES_RECEIVED,
    WEFT_PVAR_RANK_KEPT,
    WEFT_PVAR_RANK_RENDEZVOUS,
    WEFT_PVAR_RANK_BACKLOGGED,
    WEFT_PVAR_RANK_BACKLOG,
    WEFT_PVAR_RANK_REGISTRATIONS
};

struct weft_pvar_row {
    const char *name;
    int class;
    enum weft_tool_category category;
    enum weft_pvar_source source;
    const uint64_t *word;
    struct weft_peak *peak;
    bool all; /* counted with WEFT_COUNTERS=all only */
    const char *help;
};

extern const struct weft_pvar_row weft_pvar_table[];
extern const int weft_pvar_count;

/* What follows from the class: the datatype; whether handles add up, and so can be started, stopped
 * and written; whether one can be reset. */
MPI_Datatype weft_pvar_type(const struct weft_pvar_row *row);
bool weft_pvar_sums(const struct weft_pvar_row *row);
bool weft_pvar_resets(const struct weft_pvar_row *row);
static inline bool weft_pvar_of_ranks(const struct weft_pvar_row *row)
{
    return row->source >= WEFT_PVAR_RANK_SENT;
}

/* The value now, for a world rank where it is one of ranks; a percentage in billionths. */
uint64_t weft_pvar_raw(const struct weft_pvar_row *row, int world);

/* Sessions and handles. Codes of MPI_T. */
struct weft_pvar_session;
struct weft_pvar_handle;

int weft_pvar_session_make(MPI_T_pvar_session *out);
struct weft_pvar_session *weft_pvar_session_find(MPI_T_pvar_session handle);
void weft_pvar_session_free(struct weft_pvar_session *session);

/* The handle of a session, or NULL. */
struct weft_pvar_handle *weft_pvar_find(struct weft_pvar_session *session,
                                        MPI_T_pvar_handle handle);
int weft_pvar_make(struct weft_pvar_session *session, int row, const void *object,
                   MPI_T_pvar_handle *out, int *count);
void weft_pvar_free(struct weft_pvar_session *session, struct weft_pvar_handle *handle);

/* What can be done with one; `all` is for MPI_T_PVAR_ALL_HANDLES, where those are passed over that
 * cannot. */
int weft_pvar_start(struct weft_pvar_handle *handle);
int weft_pvar_stop(struct weft_pvar_handle *handle);
int weft_pvar_reset(struct weft_pvar_handle *handle);
int weft_pvar_read(struct weft_pvar_handle *handle, void *to);
int weft_pvar_read_and_reset(struct weft_pvar_handle *handle, void *to);
int weft_pvar_write(struct weft_pvar_handle *handle, const void *from);
void weft_pvar_each(struct weft_pvar_session *session, int (*deed)(struct weft_pvar_handle *));

#endif
