// SPDX-License-Identifier: BSD-3-Clause
/*
 * Raising errors: see raise.h.
 */
#include "core/comm/raise.h"
#include "core/base/settings.h"
#include "core/comm/comm.h"
#include "core/message/process.h"

#include <stdarg.h>

/* Whose handler gets errors without an object: that of MPI_COMM_SELF, which is the initial error
 * handler where MPI_COMM_SELF is not initialized (MPI 5.0, 9.3), also before MPI has begun. */
static struct weft_comm *unattached(void)
{
    char why[256];
    if (weft.job.size == 0 && weft_settings_load(why, sizeof why) == 0)
        weft_comm_set_initial_errhandler(&weft_comm_self);
    return &weft_comm_self;
}

/* The handler may free the communicator, whose memory the call still uses. It may also end MPI, and
 * so all communicators. */
static int raise_on(struct weft_comm *comm, int code, int cause, const char *function)
{
    if (!comm)
        comm = unattached();
    if (comm->errhandler == &weft_errors_return)
        return code;
    __atomic_fetch_add(&comm->raisings, 1, __ATOMIC_RELAXED);
    code = weft_errhandler_raise_cause(comm->errhandler, comm->handle, code, cause, function);
    if (weft.running)
        __atomic_fetch_sub(&comm->raisings, 1, __ATOMIC_RELAXED);
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
