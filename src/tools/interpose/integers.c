// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that a front end with ints as handles calls instead of MPI_Isend, MPI_Irecv and
 * MPI_Wait (core/mpi/frontend.h): they go through the wrappers of those, so that a tool sees them.
 */
#include "tools/interpose/wrapper.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

extern __typeof__(MPI_Isend) weft_abi_Isend;
extern __typeof__(MPI_Irecv) weft_abi_Irecv;
extern __typeof__(MPI_Wait) weft_abi_Wait;
EXPORTED void weft_abi_integers(int (*error)(int code), int null);
EXPORTED int weft_abi_isend_integer(const void *buf, int count, MPI_Datatype datatype, int dest,
                                    int tag, MPI_Comm comm, int *integer);
EXPORTED int weft_abi_irecv_integer(void *buf, int count, MPI_Datatype datatype, int source,
                                    int tag, MPI_Comm comm, int *integer);
EXPORTED int weft_abi_wait_integer(int *integer, MPI_Status *status);
MPI_Request weft_abi_request_of_integer(int value);

/* The front end has stated how it returns an error, and its MPI_REQUEST_NULL. */
static struct {
    int (*error)(int code);
    int null;
} front;

void weft_abi_integers(int (*error)(int code), int null)
{
    void (*next)(int (*)(int), int);
    void *found = dlsym(RTLD_NEXT, "weft_abi_integers");
    front.error = error;
    front.null = null;
    if (!found)
        abort();
    memcpy(&next, &found, sizeof next);
    next(error, null);
}

static int returned(int code)
{
    return code == MPI_SUCCESS ? code : front.error(code);
}

int weft_abi_isend_integer(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, int *integer)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = weft_abi_Isend(buf, count, datatype, dest, tag, comm, integer ? &request : NULL);
    if (code == MPI_SUCCESS)
        *integer = weft_next.Request_toint(request);
    return returned(code);
}

int weft_abi_irecv_integer(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                           MPI_Comm comm, int *integer)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = weft_abi_Irecv(buf, count, datatype, source, tag, comm, integer ? &request : NULL);
    if (code == MPI_SUCCESS)
        *integer = weft_next.Request_toint(request);
    return returned(code);
}

int weft_abi_wait_integer(int *integer, MPI_Status *status)
{
    MPI_Request request =
        *integer == front.null ? MPI_REQUEST_NULL : weft_abi_request_of_integer(*integer);
    int code = weft_abi_Wait(&request, status);
    if (request == MPI_REQUEST_NULL)
        *integer = front.null;
    return returned(code);
}
