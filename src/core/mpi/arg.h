// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks of arguments, and entering and leaving the library: what entry points have in common.
 *
 * Invariants:
 *  - weft_arg_ functions return MPI_SUCCESS, or an error class whose sentence they have recorded.
 *    The function that leaves the library raises the error, once.
 *  - An object is set if its handle is valid, also when the check fails for another reason: then
 *    its error handler is called.
 */
#ifndef WEFT_ARG_H
#define WEFT_ARG_H

#include "core/comm/comm.h"
#include "core/comm/group.h"
#include "core/comm/session.h"
#include "core/coll/op.h"
#include "core/datatype/datatype.h"
#include "core/comm/raise.h"
#include "core/process/weft.h"

#include <limits.h>

/* ---- Handles */

/* Records the error of a handle that is null or names no object of its kind. entry: its index in an
 * array, or -1. */
WEFT_COLD int weft_arg_bad_handle(enum weft_kind kind, const void *handle, int entry);

static inline int weft_arg_comm(MPI_Comm handle, struct weft_comm **comm)
{
    *comm = weft_comm_resolve(handle);
    return weft_likely(*comm != NULL) ? MPI_SUCCESS
                                      : weft_arg_bad_handle(WEFT_KIND_COMM, handle, -1);
}

static inline int weft_arg_group(MPI_Group handle, struct weft_group **group)
{
    *group = weft_group_resolve(handle);
    return weft_likely(*group != NULL) ? MPI_SUCCESS
                                       : weft_arg_bad_handle(WEFT_KIND_GROUP, handle, -1);
}

static inline int weft_arg_type(MPI_Datatype handle, struct weft_datatype **type)
{
    *type = weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
    return weft_likely(*type != NULL) ? MPI_SUCCESS
                                      : weft_arg_bad_handle(WEFT_KIND_DATATYPE, handle, -1);
}

/* An intra-communicator, an inter-communicator, one with a certain topology. */
int weft_arg_intra(MPI_Comm handle, struct weft_comm **comm);
int weft_arg_inter(MPI_Comm handle, struct weft_comm **comm);
int weft_arg_cart(MPI_Comm handle, struct weft_comm **comm);
int weft_arg_graph(MPI_Comm handle, struct weft_comm **comm);
int weft_arg_dist_graph(MPI_Comm handle, struct weft_comm **comm);

int weft_arg_session(MPI_Session handle, struct weft_session **session);
int weft_arg_op(MPI_Op handle, struct weft_op **op);

/* A committed datatype. */
WEFT_COLD int weft_arg_uncommitted(MPI_Datatype handle);

static inline int weft_arg_committed(MPI_Datatype handle, struct weft_datatype **type)
{
    *type = weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
    return weft_likely(*type && (*type)->flags & WEFT_TYPE_COMMITTED)
               ? MPI_SUCCESS
               : weft_arg_uncommitted(handle);
}

/* A partitioned send that is active; a partitioned receive, or MPI_REQUEST_NULL. */
int weft_arg_psend(MPI_Request handle, struct weft_request **request);
int weft_arg_precv(MPI_Request handle, struct weft_request **request);

/* An info object; one that may be changed. */
int weft_arg_info(MPI_Info handle, struct weft_info **info);
int weft_arg_writable(MPI_Info handle, struct weft_info **info);

/* An error handler for objects of a kind; NONE: for any. */
int weft_arg_errhandler(enum weft_kind kind, MPI_Errhandler handle, struct weft_errhandler **out);

/* The null handle is allowed: its object is NULL. */
int weft_arg_comm_or_null(MPI_Comm handle, struct weft_comm **comm);
int weft_arg_info_or_null(MPI_Info handle, struct weft_info **info);
int weft_arg_type_or_null(MPI_Datatype handle, struct weft_datatype **type);

/* ---- Other arguments */

WEFT_COLD int weft_arg_no_result(const char *what);

/* A pointer to a result; what: "rank". */
static inline int weft_arg_result(bool given, const char *what)
{
    return weft_likely(given) ? MPI_SUCCESS : weft_arg_no_result(what);
}

/* A function, or a string. */
int weft_arg_given(bool given, const char *what);

/* A rank of the communicator, or of its other group. */
int weft_arg_rank(int rank, const struct weft_comm *comm);
int weft_arg_tag(int tag);
WEFT_COLD int weft_arg_negative(MPI_Count count);

static inline int weft_arg_count(MPI_Count count)
{
    return weft_likely(count >= 0) ? MPI_SUCCESS : weft_arg_negative(count);
}

/* No memory is longer: 2^47 bytes are what a process can address. */
#define WEFT_MEMORY_MAX ((size_t)1 << 47)

/* Elements whose packed bytes fit into an MPI_Count. */
int weft_arg_packed(MPI_Count count, const struct weft_datatype *type);
WEFT_COLD int weft_arg_too_much(MPI_Count count);

/* The bytes of count elements, which fit into the address space. */
int weft_arg_bytes(MPI_Count count, const struct weft_datatype *type, size_t *bytes);

/* False for a null pointer and for MPI_IN_PLACE. */
static inline bool weft_is_address(const void *buffer)
{
    return (uintptr_t)buffer > (uintptr_t)MPI_IN_PLACE;
}

/* A buffer with so many bytes of data: not MPI_IN_PLACE, and a null pointer only with a datatype
 * that has addresses. what: "send". */
WEFT_COLD int weft_arg_bad_buffer(const void *buffer, const struct weft_datatype *type,
                                  const char *what);

static inline int weft_arg_buffer(const void *buffer, size_t bytes,
                                  const struct weft_datatype *type, const char *what)
{
    return weft_likely(weft_is_address(buffer)) || !bytes ? MPI_SUCCESS
                                                          : weft_arg_bad_buffer(buffer, type, what);
}

/* The status of a call that reads or changes it. */
int weft_arg_status(const MPI_Status *status);

/* ---- Results */

/* A number that an int cannot hold is MPI_UNDEFINED (MPI 5.0, 3.2.5 and 5.1.5). */
static inline int weft_arg_narrow(MPI_Count n)
{
    return n > INT_MAX ? MPI_UNDEFINED : (int)n;
}

/* The integer form of a request (MPI 5.0 section 20.3.4): requests have numbers of their own. */
int weft_request_to_int(MPI_Request handle);
MPI_Request weft_request_from_int(int value);

/* Copies a name and its end to where the caller has space for the longest. */
void weft_arg_copy_name(const char *from, char *to, int *length);

/* ---- Entering and leaving. Functions that leave raise code unless it is MPI_SUCCESS, and return
 * it. The error handler is that of the object, or of MPI_COMM_SELF if it is NULL. */

static inline int weft_leave_with(struct weft_comm *comm, int code, const char *function)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_error_raise(comm, code, function);
    weft_leave();
    return code;
}

/* Leaves a call that entered with one VCI or, NULL, with all. */
static inline int weft_leave_scope_with(struct weft_vci *vci, struct weft_comm *comm, int code,
                                        const char *function)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_error_raise(comm, code, function);
    weft_leave_scope(vci);
    return code;
}

/* Leaves a call that entered with the VCI of its communicator. */
static inline int weft_leave_comm(struct weft_comm *comm, int code, const char *function)
{
    struct weft_vci *vci = comm ? comm->vci : &weft.vcis[0];
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_error_raise(comm, code, function);
    weft_leave_on(vci);
    return code;
}

/* The VCI of a call on a communicator; VCI 0 for an invalid handle, whose error is raised there. */
static inline struct weft_vci *weft_p2p_call_vci(MPI_Comm handle)
{
    const struct weft_comm *comm =
        weft_entry_flags & WEFT_ENTRY_CLOSED ? NULL : weft_comm_resolve(handle);
    return comm ? comm->vci : &weft.vcis[0];
}

/* Enters with the VCI of a communicator, and resolves it. NULL: the error was raised, *code is to
 * be returned. */
static inline struct weft_comm *weft_enter_comm(const char *function, MPI_Comm handle, int *code)
{
    struct weft_comm *comm;
    *code = weft_enter_on(function, weft_p2p_call_vci(handle));
    if (weft_unlikely(*code != MPI_SUCCESS))
        return NULL;
    *code = weft_arg_comm(handle, &comm);
    if (weft_unlikely(*code != MPI_SUCCESS))
        weft_leave_comm(NULL, *code, function);
    return comm;
}

/* The error handler is that of the request's communicator. */
static inline int weft_leave_request(struct weft_request *request, int code, const char *function)
{
    return weft_leave_with(request ? weft_request_comm(request) : NULL, code, function);
}

int weft_vcis_leave_with(int code, const char *function);

/* Errors go to a handler of an object, or (NULL) to that of MPI_COMM_SELF. */
int weft_leave_to(struct weft_errhandler *handler, void *object, int code, const char *function);
int weft_vcis_leave_to(struct weft_errhandler *handler, void *object, int code,
                       const char *function);

/* For calls that do not enter. */
WEFT_COLD int weft_raise_anytime(int code, const char *function);

static inline int weft_raise_unlocked(int code, const char *function)
{
    return weft_likely(code == MPI_SUCCESS) ? code : weft_raise_anytime(code, function);
}

#endif
