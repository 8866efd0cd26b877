// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions (MPI 5.0 section 11.3): session objects, process sets, and communicators made from
 * groups.
 *
 * Invariants:
 *  - A session object lives until it is finalized and no group or communicator refers to it.
 *  - Groups made from a session's process sets, and the objects made from those groups, refer to
 *    the session.
 *
 * Functions that return NULL or an MPI error class have set the error sentence.
 */
#ifndef WEFT_SESSION_H
#define WEFT_SESSION_H

#include "core/comm/comm.h"
#include "core/base/error.h"
#include "core/base/handle.h"
#include "core/base/info.h"

struct weft_session {
    struct weft_object object;
    int refs;
    int thread_level;
    struct weft_errhandler *errhandler;
    struct weft_bsend_buffer bsend; /* for communicators of the session without a buffer */
};

/* Makes a session, whose user then calls weft_enter_use. info may be NULL; its key thread_level
 * sets the thread level. Returns MPI_SUCCESS, or an error class that was recorded. */
int weft_session_open(const struct weft_info *info, struct weft_errhandler *errhandler,
                      struct weft_session **made);

/* Adds a reference, and returns the session; drops one. NULL is allowed. */
struct weft_session *weft_session_keep(struct weft_session *session);
void weft_session_release(struct weft_session *session);

/* The session's buffer, as an argument of the functions of core/pt2pt/bsend.h. */
static inline struct weft_bsend_owner weft_session_bsend_owner(struct weft_session *session)
{
    return (struct weft_bsend_owner){.buffer = &session->bsend};
}

/* The result of MPI_Session_get_info. NULL without memory. */
struct weft_info *weft_session_info(const struct weft_session *session);

/* The number of process sets, and the name of one, or NULL. */
int weft_session_psets(void);
const char *weft_session_pset_name(int n);

/* The name of the set that a name means, as weft_session_pset_name has it: scheme and host of our
 * own sets may be written otherwise. NULL if there is none. */
const char *weft_session_pset_spelling(const char *name);

/* The group of a process set. NULL with *code MPI_ERR_ARG (no set of that name) or
 * MPI_ERR_NO_MEM. */
struct weft_group *weft_session_pset_group(struct weft_session *session, const char *name,
                                           int *code);

/* Communicators from groups of this job; all members call with the same tag. remote is significant
 * at the leader only. */
int weft_comm_from_group(struct weft_group *group, const char *tag, const struct weft_info *hints,
                         struct weft_errhandler *errhandler, struct weft_comm **out);
int weft_intercomm_from_groups(struct weft_group *local, int leader, MPI_Group remote,
                               int remote_leader, const char *tag, const struct weft_info *hints,
                               struct weft_errhandler *errhandler, struct weft_comm **out);

#endif
