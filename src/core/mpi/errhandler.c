// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error handlers, error classes and codes (MPI 5.0 sections 9.3 to 9.5): steps of entry points in
 * abi/entry_points.txt.
 */
#include "core/mpi/entry.h"
#include "core/base/error_code.h"

void weft_mpi_replace_errhandler(struct weft_errhandler **where, struct weft_errhandler *handler)
{
    handler->refs++;
    weft_errhandler_release(*where);
    *where = handler;
}

/* The user frees the handle. */
MPI_Errhandler weft_mpi_give_errhandler(struct weft_errhandler *handler)
{
    handler->refs++;
    return handler->handle;
}

/* ---- Classes and codes */

int weft_mpi_error_string(int errorcode, char *string, int *resultlen)
{
    char text[MPI_MAX_ERROR_STRING];
    if (!weft_error_text(errorcode, text, sizeof text))
        return weft_error_set(
            MPI_ERR_ARG, "there is no error code %d; MPI_Add_error_code adds codes", errorcode);
    weft_arg_copy_name(text, string, resultlen);
    return MPI_SUCCESS;
}

int weft_mpi_error_class(int errorcode, int *errorclass)
{
    char text[8];
    int class = weft_error_code_class(errorcode);
    if (!weft_error_text(errorcode, text, sizeof text))
        return weft_error_set(
            MPI_ERR_ARG, "there is no error code %d; MPI_Add_error_code adds codes", errorcode);
    *errorclass = class >= 0 ? class : errorcode;
    return MPI_SUCCESS;
}
