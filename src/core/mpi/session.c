// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions (MPI 5.0 section 11.3) and what is made of them (sections 7.3.2, 7.4.2 and 7.6.2).
 *
 * Invariant: no call here needs MPI_Init.
 */
#include "core/comm/raise.h"
#include "core/mpi/api.h"
#include "core/mpi/generated/entry.h"
#include "core/pt2pt/bsend.h"
#include "core/object/info.h"
#include "core/comm/session.h"

#include <stdio.h>
#include <string.h>

/* Raises an error of a call that makes an object by the handler that it passes, unless that is the
 * wrong argument. */
static int raise(struct weft_errhandler *handler, void *object, int code, const char *function)
{
    return handler ? weft_errhandler_raise(handler, object, code, function)
                   : weft_error_raise(NULL, code, function);
}

WEFT_EXPORT(Session_init);
int PMPI_Session_init(MPI_Info handle, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct weft_session *made = NULL;
    struct weft_errhandler *handler;
    struct weft_info *info = NULL;
    int code;
    weft_vcis_enter();
    weft_error_init();
    code = weft_arg_errhandler(WEFT_KIND_SESSION, errhandler, &handler);
    if (!code)
        code = weft_arg_info_or_null(handle, &info);
    if (!code)
        code = weft_arg_result(session != NULL, "session");
    if (!code && !(made = weft_session_open(info, handler)))
        code = MPI_ERR_NO_MEM;
    if (!code)
        *session = (MPI_Session)made;
    if (code != MPI_SUCCESS)
        code = raise(handler, MPI_SESSION_NULL, code, "MPI_Session_init");
    weft_vcis_leave();
    return code;
}

WEFT_EXPORT(Session_finalize);
int PMPI_Session_finalize(MPI_Session *handle)
{
    const char *function = "MPI_Session_finalize";
    int code;
    struct weft_session *session =
        weft_enter_session(function, handle ? *handle : MPI_SESSION_NULL, &code);
    if (!session)
        return code;
    if (session->bsend.attached) {
        void *base;
        size_t size;
        code = weft_bsend_detach((struct weft_bsend_owner){.session = session}, &base, &size);
        if (code != MPI_SUCCESS)
            code = weft_error_raise_in_session(session, code, function);
    }
    weft_session_close(session);
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
    struct weft_group *group;
    int code = weft_session_pset_group(session, name, &group);
    if (code != MPI_SUCCESS)
        return code;
    *made = weft_info_make();
    weft_info_set_number(*made, "mpi_size", (size_t)group->size);
    weft_group_release(group);
    return MPI_SUCCESS;
}

/* ---- Communicators */

static int bad_rank(const char *what, int rank, const struct weft_group *group)
{
    return weft_error_set(MPI_ERR_RANK,
                          "the %s leader %d is not in its group, which has %d processes", what,
                          rank, group->size);
}

/* Checks what both functions below have in common. */
static int check(const struct weft_group *group, const char *tag, const void *out)
{
    if (!tag || strnlen(tag, MPI_MAX_STRINGTAG_LEN) >= MPI_MAX_STRINGTAG_LEN)
        return weft_error_set(MPI_ERR_ARG, "the tag is %s; it can have up to %d characters",
                              tag ? "too long" : "a null pointer", MPI_MAX_STRINGTAG_LEN - 1);
    if (!out)
        return weft_arg_no_result("new communicator");
    if (group->size > 0 && group->rank == MPI_UNDEFINED)
        return weft_error_set(MPI_ERR_GROUP,
                              "this process is not in the group; only members call this");
    return MPI_SUCCESS;
}

/* Leaves; errors go to the handler that was passed, which is that of the communicator to be. */
static int leave(struct weft_errhandler *handler, int code, const char *function)
{
    if (code != MPI_SUCCESS)
        code = raise(handler, MPI_COMM_NULL, code, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_create_from_group);
int PMPI_Comm_create_from_group(MPI_Group handle, const char *tag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    const char *function = "MPI_Comm_create_from_group";
    struct weft_comm *made = NULL;
    struct weft_group *group;
    struct weft_errhandler *handler = NULL;
    struct weft_info *hints;
    int code = weft_enter(function);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_arg_group(handle, &group);
    if (code == MPI_SUCCESS)
        code = weft_arg_errhandler(WEFT_KIND_COMM, errhandler, &handler);
    if (code == MPI_SUCCESS)
        code = check(group, tag, newcomm);
    if (code == MPI_SUCCESS)
        code = weft_arg_info_or_null(info, &hints);
    if (code == MPI_SUCCESS) {
        code = weft_comm_from_group(group, tag, handler, &made);
        if (made)
            weft_comm_take_hints(made, hints);
        *newcomm = made ? made->handle : MPI_COMM_NULL;
    }
    return leave(handler, code, function);
}

WEFT_EXPORT(Intercomm_create_from_groups);
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader, const char *tag,
                                      MPI_Info info, MPI_Errhandler errhandler,
                                      MPI_Comm *newintercomm)
{
    const char *function = "MPI_Intercomm_create_from_groups";
    struct weft_comm *made = NULL;
    struct weft_group *local;
    struct weft_errhandler *handler = NULL;
    struct weft_info *hints;
    int code = weft_enter(function);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_arg_group(local_group, &local);
    if (code == MPI_SUCCESS)
        code = weft_arg_errhandler(WEFT_KIND_COMM, errhandler, &handler);
    if (code == MPI_SUCCESS)
        code = check(local, tag, newintercomm);
    /* The remote side counts at the leader only. */
    bool leads = code == MPI_SUCCESS && local->rank == local_leader;
    struct weft_group *remote = leads ? weft_group_resolve(remote_group) : NULL;
    if (code == MPI_SUCCESS && (local_leader < 0 || local_leader >= local->size))
        code = bad_rank("local", local_leader, local);
    if (code == MPI_SUCCESS && leads && !remote)
        code = weft_error_set(MPI_ERR_GROUP, "the remote group %p is none", (void *)remote_group);
    if (code == MPI_SUCCESS && leads && (remote_leader < 0 || remote_leader >= remote->size))
        code = bad_rank("remote", remote_leader, remote);
    if (code == MPI_SUCCESS)
        code = weft_arg_info_or_null(info, &hints);
    if (code == MPI_SUCCESS) {
        code = weft_intercomm_from_groups(local, local_leader, remote, remote_leader, tag, handler,
                                          &made);
        if (made)
            weft_comm_take_hints(made, hints);
        *newintercomm = made ? made->handle : MPI_COMM_NULL;
    }
    return leave(handler, code, function);
}
