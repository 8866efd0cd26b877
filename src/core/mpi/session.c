// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions (MPI 5.0 section 11.3) and what is made of them (sections 7.3.2, 7.4.2 and 7.6.2).
 *
 * Invariant: no call here needs MPI_Init.
 */
#include "core/mpi/api.h"
#include "core/mpi/entry.h"
#include "core/pt2pt/bsend.h"
#include "core/base/info.h"
#include "core/comm/session.h"
#include "core/message/foreign.h"
#include "core/process/weft.h"

#include <stdio.h>
#include <string.h>

WEFT_EXPORT(Session_finalize);
int PMPI_Session_finalize(MPI_Session *handle)
{
    const char *function = "MPI_Session_finalize";
    struct weft_session *session;
    weft_vcis_enter();
    int code = weft_check_forked();
    if (code == MPI_SUCCESS)
        code = weft_arg_session(handle ? *handle : MPI_SESSION_NULL, &session);
    if (code == MPI_SUCCESS)
        code = weft_callback_check(NULL, MPI_ERR_SESSION, "the session cannot be finalized");
    if (code != MPI_SUCCESS)
        return weft_vcis_leave_with(code, function);
    if (session->bsend.attached) {
        void *base;
        size_t size;
        code = weft_bsend_detach(weft_session_bsend_owner(session), &base, &size);
        if (code != MPI_SUCCESS)
            code = weft_errhandler_raise(session->errhandler, session, code, function);
    }
    weft_handle_retire(&session->object);
    weft_leave_use(session->thread_level);
    weft_session_release(session);
    *handle = MPI_SESSION_NULL;
    weft_vcis_leave();
    return code;
}

/* ---- Process sets */

int weft_mpi_session_get_nth_pset(int n, int *length, char *name)
{
    const char *found = weft_session_pset_name(n);
    if (!found)
        return weft_error_set(MPI_ERR_ARG, "there is no process set %d; there are %d", n,
                              weft_session_psets());
    if (!length || (*length > 0 && !name))
        return weft_arg_no_result(length ? "name" : "length");
    if (*length > 0)
        snprintf(name, (size_t)*length, "%s", found);
    *length = (int)strlen(found) + 1;
    return MPI_SUCCESS;
}

int weft_mpi_session_get_pset_info(struct weft_session *session, const char *name,
                                   struct weft_info **made)
{
    char size[16];
    int code = MPI_SUCCESS;
    struct weft_group *group = weft_session_pset_group(session, name, &code);
    if (!group)
        return code;
    struct weft_info *info = weft_info_make();
    snprintf(size, sizeof size, "%d", group->size);
    code = info ? weft_info_set(info, "mpi_size", size) : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        *made = info;
    else
        weft_info_free(info);
    weft_group_release(group);
    return code;
}

/* ---- Communicators from groups */

/* The processes of a group find each other by the launcher, so all are of this job. */
static int check_job(const char *which, const struct weft_group *group)
{
    for (int rank = 0; group->foreign && rank < group->size; rank++)
        if (weft_is_foreign(weft_group_world(group, rank)))
            return weft_error_set(MPI_ERR_UNSUPPORTED_OPERATION,
                                  "rank %d of the %s is a process of another job; make the "
                                  "communicator from one with that process, by "
                                  "MPI_Comm_create_group or MPI_Intercomm_create",
                                  rank, which);
    return MPI_SUCCESS;
}

/* Checks the group of the calling processes, and their tag. */
int weft_mpi_check_members_call(struct weft_group *group, const char *tag)
{
    if (!tag || strnlen(tag, MPI_MAX_STRINGTAG_LEN) >= MPI_MAX_STRINGTAG_LEN)
        return weft_error_set(MPI_ERR_ARG, "the tag is %s; it can have up to %d characters",
                              tag ? "too long" : "a null pointer", MPI_MAX_STRINGTAG_LEN - 1);
    if (group->size > 0 && group->rank == MPI_UNDEFINED)
        return weft_error_set(MPI_ERR_GROUP,
                              "this process is not in the group; only members call this");
    return check_job("group", group);
}

static int check_leader(const char *which, int rank, const struct weft_group *group)
{
    if (rank >= 0 && rank < group->size)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_RANK,
                          "the %s leader %d is not in its group, which has %d processes", which,
                          rank, group->size);
}

/* The remote side is significant at the leader only. */
int weft_mpi_check_group_leaders(struct weft_group *local, int leader, MPI_Group remote_group,
                                 int remote_leader)
{
    int code = check_leader("local", leader, local);
    if (code != MPI_SUCCESS || local->rank != leader)
        return code;
    const struct weft_group *remote = weft_group_resolve(remote_group);
    if (!remote)
        return weft_arg_bad_handle(WEFT_KIND_GROUP, remote_group, -1);
    code = check_leader("remote", remote_leader, remote);
    return code == MPI_SUCCESS ? check_job("remote group", remote) : code;
}
