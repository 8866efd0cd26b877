// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fortran procedures as callbacks of C's MPI: callback.c has operations and error handlers,
 * attribute.c attributes, generalized requests and data representations.
 */
#ifndef WEFT_FORTRAN_CALLBACK_H
#define WEFT_FORTRAN_CALLBACK_H

#include "fortran/glue.h"

/* The C function that calls a Fortran procedure; NULL when there are more different procedures than
 * trampolines. */
MPI_User_function *weft_fortran_op(weft_fortran_procedure *procedure);
MPI_User_function_c *weft_fortran_op_c(weft_fortran_procedure *procedure);
MPI_Comm_errhandler_function *weft_fortran_comm_errhandler(weft_fortran_procedure *procedure);
MPI_File_errhandler_function *weft_fortran_file_errhandler(weft_fortran_procedure *procedure);
MPI_Win_errhandler_function *weft_fortran_win_errhandler(weft_fortran_procedure *procedure);
MPI_Session_errhandler_function *weft_fortran_session_errhandler(weft_fortran_procedure *procedure);

/* The widths that attributes have in Fortran. */
enum weft_fortran_width { WEFT_FORTRAN_INTEGER, WEFT_FORTRAN_ADDRESS };

/* A key's procedures; the extra state of the C functions below. Never freed: objects may have
 * attributes after their key was freed. */
struct weft_fortran_keyval {
    weft_fortran_procedure *copy, *delete;
    MPI_Aint extra;
    enum weft_fortran_width width;
    struct weft_fortran_keyval *next; /* of all that were made */
};
struct weft_fortran_keyval *weft_fortran_keyval(weft_fortran_procedure *copy,
                                                weft_fortran_procedure *delete, MPI_Aint extra,
                                                enum weft_fortran_width width);
int weft_fortran_comm_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag);
int weft_fortran_comm_delete(MPI_Comm comm, int keyval, void *value, void *extra);
int weft_fortran_type_copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out,
                           int *flag);
int weft_fortran_type_delete(MPI_Datatype type, int keyval, void *value, void *extra);
int weft_fortran_win_copy(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag);
int weft_fortran_win_delete(MPI_Win win, int keyval, void *value, void *extra);

/* The address of a box with a value that Fortran sets, which C keeps. */
void *weft_fortran_box(MPI_Aint value, enum weft_fortran_width width);
void weft_fortran_unbox(void *box);

/* The value in Fortran of what C keeps. */
MPI_Aint weft_fortran_value(int keyval, void *kept);

/* A generalized request's procedures. */
struct weft_fortran_grequest {
    weft_fortran_procedure *query, *release, *cancel;
    MPI_Aint extra;
};
int weft_fortran_grequest_query(void *extra, MPI_Status *status);
int weft_fortran_grequest_free(void *extra);
int weft_fortran_grequest_cancel(void *extra, int complete);

/* A data representation's procedures. */
struct weft_fortran_datarep {
    weft_fortran_procedure *read, *write, *extent;
    MPI_Aint extra;
    struct weft_fortran_datarep *older;
};
int weft_fortran_datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra);
int weft_fortran_datarep_read(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                              MPI_Offset position, void *extra);
int weft_fortran_datarep_write(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                               MPI_Offset position, void *extra);
int weft_fortran_datarep_read_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                                MPI_Offset position, void *extra);
int weft_fortran_datarep_write_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                                 MPI_Offset position, void *extra);

/* The predefined procedures that are recognized by their addresses. */
weft_fortran_procedure mpi_dup_fn_, mpi_comm_dup_fn_, mpi_type_dup_fn_, mpi_win_dup_fn_,
    mpi_conversion_fn_null_, mpi_conversion_fn_null_c_;

#endif
