// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions (MPI 5.0 section 11.3) and what is made of them (sections 7.3.2, 7.4.2 and 7.6.2).
 *
 * Invariant: no call here needs MPI_Init.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/pt2pt/bsend.h"
#include "core/object/error.h"
#include "core/object/info.h"
#include "core/comm/session.h"
#include "core/process/weft.h"

#include <stdio.h>
#include <string.h>

/* An argument that is an info object or MPI_INFO_NULL. */
static bool optional_info(MPI_Info handle, struct weft_info **info)
{
    *info = handle == MPI_INFO_NULL ? NULL : weft_info_resolve(handle);
    if (*info || handle == MPI_INFO_NULL)
        return true;
    weft_error_set(MPI_ERR_INFO, "%p is no info object; was it freed?", (void *)handle);
    return false;
}

/* An error handler for a kind of objects, or NULL, the sentence said. */
static struct weft_errhandler *handler_of(MPI_Errhandler handle, enum weft_kind kind)
{
    struct weft_errhandler *handler = weft_handle_resolve(handle, WEFT_KIND_ERRHANDLER);
    if (handler && weft_errhandler_fits(handler, kind))
        return handler;
    weft_error_set(MPI_ERR_ERRHANDLER,
                   handler ? "the error handler was made for another kind of object"
                           : "%p is no error handler; was it freed?",
                   (void *)handle);
    return NULL;
}

static int null_result(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the pointer to the %s is null", what);
}

WEFT_EXPORT(Session_init);
int PMPI_Session_init(MPI_Info handle, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct weft_session *made = NULL;
    struct weft_info *info;
    int code = MPI_SUCCESS;
    weft_enter_anytime();
    weft_error_init();
    struct weft_errhandler *handler = handler_of(errhandler, WEFT_KIND_SESSION);
    if (!optional_info(handle, &info))
        code = MPI_ERR_INFO;
    else if (!handler)
        code = MPI_ERR_ERRHANDLER;
    else if (!session)
        code = null_result("session");
    else if (!(made = weft_session_open(info, handler)))
        code = MPI_ERR_NO_MEM;
    else
        *session = (MPI_Session)made;
    if (code != MPI_SUCCESS)
        code = weft_errhandler_raise(handler ? handler : &weft_errors_are_fatal, NULL, code,
                                     "MPI_Session_init");
    weft_leave_anytime();
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
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Session_get_info);
int PMPI_Session_get_info(MPI_Session handle, MPI_Info *used)
{
    const char *function = "MPI_Session_get_info";
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    struct weft_info *info = used ? weft_session_info(session) : NULL;
    if (info)
        *used = (MPI_Info)info;
    else
        code = used ? MPI_ERR_NO_MEM : null_result("info object");
    return weft_leave_session(session, code, function);
}

/* ---- Process sets */

WEFT_EXPORT(Session_get_num_psets);
int PMPI_Session_get_num_psets(MPI_Session handle, MPI_Info info, int *psets)
{
    const char *function = "MPI_Session_get_num_psets";
    struct weft_info *hints;
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    if (!optional_info(info, &hints))
        code = MPI_ERR_INFO;
    else if (!psets)
        code = null_result("number of process sets");
    else
        *psets = weft_session_psets();
    return weft_leave_session(session, code, function);
}

WEFT_EXPORT(Session_get_nth_pset);
int PMPI_Session_get_nth_pset(MPI_Session handle, MPI_Info info, int n, int *length, char *name)
{
    const char *function = "MPI_Session_get_nth_pset";
    struct weft_info *hints;
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    const char *found = weft_session_pset_name(n);
    if (!optional_info(info, &hints))
        code = MPI_ERR_INFO;
    else if (!found)
        code = weft_error_set(MPI_ERR_ARG, "there is no process set %d; there are %d", n,
                              weft_session_psets());
    else if (!length || (*length > 0 && !name))
        code = null_result(length ? "name" : "length");
    if (code == MPI_SUCCESS) {
        if (*length > 0)
            snprintf(name, (size_t)*length, "%s", found);
        *length = (int)strlen(found) + 1;
    }
    return weft_leave_session(session, code, function);
}

WEFT_EXPORT(Session_get_pset_info);
int PMPI_Session_get_pset_info(MPI_Session handle, const char *name, MPI_Info *out)
{
    const char *function = "MPI_Session_get_pset_info";
    char size[16];
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    struct weft_group *group = NULL;
    if (!name || !out)
        code = null_result(name ? "info object" : "name");
    else
        group = weft_session_pset_group(session, name, &code);
    if (group) {
        struct weft_info *info = weft_info_make();
        snprintf(size, sizeof size, "%d", group->size);
        code = info ? weft_info_set(info, "mpi_size", size) : MPI_ERR_NO_MEM;
        if (code == MPI_SUCCESS)
            *out = (MPI_Info)info;
        else
            weft_info_free(info);
        weft_group_release(group);
    }
    return weft_leave_session(session, code, function);
}

WEFT_EXPORT(Group_from_session_pset);
int PMPI_Group_from_session_pset(MPI_Session handle, const char *name, MPI_Group *out)
{
    const char *function = "MPI_Group_from_session_pset";
    int code;
    struct weft_session *session = weft_enter_session(function, handle, &code);
    if (!session)
        return code;
    struct weft_group *group = NULL;
    if (!name || !out)
        code = null_result(name ? "group" : "name");
    else
        group = weft_session_pset_group(session, name, &code);
    if (group)
        *out = weft_group_handle(group);
    return weft_leave_session(session, code, function);
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
        return null_result("new communicator");
    if (group->size > 0 && group->rank == MPI_UNDEFINED)
        return weft_error_set(MPI_ERR_GROUP,
                              "this process is not in the group; only members call this");
    return MPI_SUCCESS;
}

/* Leaves; errors go to the handler that was passed, which is that of the communicator to be. */
static int leave(struct weft_errhandler *handler, int code, const char *function)
{
    if (code != MPI_SUCCESS)
        code = weft_errhandler_raise(handler ? handler : &weft_errors_are_fatal, MPI_COMM_NULL,
                                     code, function);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_create_from_group);
int PMPI_Comm_create_from_group(MPI_Group handle, const char *tag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    const char *function = "MPI_Comm_create_from_group";
    struct weft_comm *made = NULL;
    struct weft_info *hints;
    int code;
    struct weft_group *group = weft_enter_group(function, handle, &code);
    if (!group)
        return code;
    struct weft_errhandler *handler = handler_of(errhandler, WEFT_KIND_COMM);
    code = handler ? check(group, tag, newcomm) : MPI_ERR_ERRHANDLER;
    if (code == MPI_SUCCESS && !optional_info(info, &hints))
        code = MPI_ERR_INFO;
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
    struct weft_info *hints;
    int code;
    struct weft_group *local = weft_enter_group(function, local_group, &code);
    if (!local)
        return code;
    struct weft_errhandler *handler = handler_of(errhandler, WEFT_KIND_COMM);
    code = handler ? check(local, tag, newintercomm) : MPI_ERR_ERRHANDLER;
    bool leads = local->rank == local_leader; /* the remote side counts at the leader only */
    struct weft_group *remote = leads ? weft_group_resolve(remote_group) : NULL;
    if (code == MPI_SUCCESS && (local_leader < 0 || local_leader >= local->size))
        code = bad_rank("local", local_leader, local);
    if (code == MPI_SUCCESS && leads && !remote)
        code = weft_error_set(MPI_ERR_GROUP, "the remote group %p is none", (void *)remote_group);
    if (code == MPI_SUCCESS && leads && (remote_leader < 0 || remote_leader >= remote->size))
        code = bad_rank("remote", remote_leader, remote);
    if (code == MPI_SUCCESS && !optional_info(info, &hints))
        code = MPI_ERR_INFO;
    if (code == MPI_SUCCESS) {
        code = weft_intercomm_from_groups(local, local_leader, remote, remote_leader, tag, handler,
                                          &made);
        if (made)
            weft_comm_take_hints(made, hints);
        *newintercomm = made ? made->handle : MPI_COMM_NULL;
    }
    return leave(handler, code, function);
}
