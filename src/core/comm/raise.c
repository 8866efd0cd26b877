// SPDX-License-Identifier: BSD-3-Clause
/*
 * Raising errors: see raise.h.
 */
#include "core/comm/raise.h"
#include "core/comm/comm.h"
#include "core/message/process.h"

#include <stdarg.h>

/* The handler may free the communicator, whose memory the call still uses. It may also end MPI, and
 * so all communicators. */
static int raise_on(struct weft_comm *comm, int code, int cause, const char *function)
{
    if (!comm)
        comm = &weft_comm_self;
    if (comm->errhandler == &weft_errors_return)
        return code;
    __atomic_fetch_add(&comm->uses, 1, __ATOMIC_RELAXED);
    code = weft_errhandler_raise_cause(comm->errhandler, comm->handle, code, cause, function);
    if (weft.running)
        __atomic_fetch_sub(&comm->uses, 1, __ATOMIC_RELAXED);
    return code;
}

int weft_error_raise(struct weft_comm *comm, int errclass, const char *function)
{
    return raise_on(comm, errclass, errclass, function);
}

int weft_error_raise_in_status(struct weft_comm *comm, int cause, const char *function)
{
    return raise_on(comm, MPI_ERR_IN_STATUS, cause, function);
}

int weft_error(struct weft_comm *comm, int errclass, const char *function, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    weft_error_setv(errclass, format, args);
    va_end(args);
    return weft_error_raise(comm, errclass, function);
}
