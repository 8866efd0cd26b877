// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions (MPI 5.0 section 11.3): handles on MPI that libraries open for themselves, process sets,
 * and communicators made from groups alone.
 *
 * Invariants:
 *  - A session object lives until it is finalized and no group or communicator refers to it.
 *  - Groups made from a session's process sets, and all that is made of them, name the session.
 */
#ifndef WEFT_SESSION_H
#define WEFT_SESSION_H

#include "core/pt2pt/bsend_buffer.h"
#include "core/comm/comm.h"
#include "core/object/error.h"
#include "core/object/handle.h"
#include "core/object/info.h"

struct weft_session {
    struct weft_object object;
    int refs;
    int thread_level;
    struct weft_errhandler *errhandler;
    struct weft_bsend_buffer bsend; /* for communicators of the session that have none */
};

/* A new session; starts MPI if nothing has yet. info may be NULL; its key thread_level is heard. Ends
 * the job when MPI cannot start. NULL when memory is short, the sentence said. */
struct weft_session *weft_session_open(const struct weft_info *info,
                                       struct weft_errhandler *errhandler);

/* The user finalizes it: completes what this process has to send, and when it is the last user of
 * MPI, lets the process sleep until the next or its exit. */
void weft_session_close(struct weft_session *session);

/* One more reference (session may be NULL); returns it. */
struct weft_session *weft_session_keep(struct weft_session *session);
void weft_session_release(struct weft_session *session);

/* What MPI_Session_get_info tells. NULL when memory is short, the sentence said. */
struct weft_info *weft_session_info(const struct weft_session *session);

/* The number of process sets, and the name of one, or NULL. */
int weft_session_psets(void);
const char *weft_session_pset_name(int n);

/* The group of a process set. NULL with *code: MPI_ERR_ARG if there is none of that name,
 * MPI_ERR_NO_MEM; the sentence said. */
struct weft_group *weft_session_pset_group(struct weft_session *session, const char *name,
                                           int *code);

/* Communicators from groups of this job, all of whose members call with the same tag. Return an MPI
 * error class, the sentence said. */
int weft_comm_from_group(struct weft_group *group, const char *tag,
                         struct weft_errhandler *errhandler, struct weft_comm **out);
int weft_intercomm_from_groups(struct weft_group *local, int leader, struct weft_group *remote,
                               int remote_leader, const char *tag,
                               struct weft_errhandler *errhandler, struct weft_comm **out);

/* Entering and leaving a call on a session, which may be made at any time by any thread. NULL: the
 * library was left, *code is to be returned. */
struct weft_session *weft_enter_session(const char *function, MPI_Session handle, int *code);
int weft_leave_session(struct weft_session *session, int code, const char *function);

#endif
