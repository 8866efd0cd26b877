// SPDX-License-Identifier: BSD-3-Clause
/*
 * Raising errors: see raise.h.
 */
#include "core/comm/raise.h"
#include "core/comm/comm.h"

#include <stdarg.h>

int weft_error_raise(struct weft_comm *comm, int errclass, const char *function)
{
    if (!comm)
        comm = &weft_comm_self;
    return weft_errhandler_raise(comm->errhandler, comm->handle, errclass, function);
}

int weft_error_raise_in_status(struct weft_comm *comm, int cause, const char *function)
{
    if (!comm)
        comm = &weft_comm_self;
    return weft_errhandler_raise_cause(comm->errhandler, comm->handle, MPI_ERR_IN_STATUS, cause,
                                       function);
}

int weft_error(struct weft_comm *comm, int errclass, const char *function, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    weft_error_setv(errclass, format, args);
    va_end(args);
    return weft_error_raise(comm, errclass, function);
}
