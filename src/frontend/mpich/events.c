// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events of MPI_T: MPICH has none, and so has its front end. Without these functions a program
 * would find those of libmpi_abi.so.1, whose handles and constants are others.
 */
#include "frontend/frontend.h"

/* The result of a function: an error, unless MPI_T is not initialized, which is one before it. */
static int refused(int otherwise)
{
    int n, code = weft_abi_T_event_get_num(&n);
    return front_code(code != MPI_SUCCESS ? code : otherwise);
}

/* A function that reads no parameter. */
#define REFUSED(name, code)                                                                        \
    FRONT_DEFINE(T_event_##name, int, (void))                                                      \
    {                                                                                              \
        return refused(code);                                                                      \
    }
REFUSED(get_index, MPI_T_ERR_INVALID_NAME)
REFUSED(get_info, MPI_T_ERR_INVALID_INDEX)
REFUSED(handle_alloc, MPI_T_ERR_INVALID_INDEX)
REFUSED(handle_free, MPI_T_ERR_INVALID_HANDLE)
REFUSED(handle_get_info, MPI_T_ERR_INVALID_HANDLE)
REFUSED(handle_set_info, MPI_T_ERR_INVALID_HANDLE)
REFUSED(register_callback, MPI_T_ERR_INVALID_HANDLE)
REFUSED(callback_get_info, MPI_T_ERR_INVALID_HANDLE)
REFUSED(callback_set_info, MPI_T_ERR_INVALID_HANDLE)
REFUSED(set_dropped_handler, MPI_T_ERR_INVALID_HANDLE)
REFUSED(read, MPI_T_ERR_INVALID_HANDLE)
REFUSED(copy, MPI_T_ERR_INVALID_HANDLE)
REFUSED(get_source, MPI_T_ERR_INVALID_HANDLE)
REFUSED(get_timestamp, MPI_T_ERR_INVALID_HANDLE)

/* Sets a number to 0 if the call that counts Weft's events was right. */
static int none(int code, int *number)
{
    if (code == MPI_SUCCESS && number)
        *number = 0;
    return front_code(code);
}

FRONT_DEFINE(T_event_get_num, int, (int *num_events))
{
    return none(weft_abi_T_event_get_num(num_events), num_events);
}

FRONT_EXPORT(T_category_get_num_events);
int front_T_category_get_num_events(int cat_index, int *num_events)
{
    return none(weft_abi_T_category_get_num_events(cat_index, num_events), num_events);
}

FRONT_EXPORT(T_category_get_events);
int front_T_category_get_events(int cat_index, int len, int indices[])
{
    int n;
    (void)len, (void)indices;
    return none(weft_abi_T_category_get_num_events(cat_index, &n), NULL);
}
