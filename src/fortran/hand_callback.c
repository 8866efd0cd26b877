// SPDX-License-Identifier: BSD-3-Clause
/*
 * External procedures that take callbacks, and those of attributes; callback.c and
 * attribute.c have what is behind them.
 */
#include "hand.h"
#include "fortran/callback.h"

#include <stdatomic.h>

static int too_many(const char *function, int *ierror)
{
    struct weft_fortran_call call = {.name = function, .ierror = ierror};
    return weft_fortran_raise(MPI_ERR_OTHER, &call,
                              "Fortran has given more than 256 different procedures of this kind; "
                              "use fewer of them");
}

/* ---- Operations */
#define OP_CREATE(lower, UPPER, Name, trampoline)                                                  \
    void FORTRAN(lower)(weft_fortran_procedure * user_fn, const int *commute, int *op,             \
                        int *ierror)                                                               \
    {                                                                                              \
        MPI_Op made = MPI_OP_NULL;                                                                 \
        __typeof(trampoline(user_fn)) function = trampoline(user_fn);                              \
        int code = function ? CALL(Name)(function, weft_fortran_truth(*commute), &made)            \
                            : too_many("MPI_" #Name, ierror);                                      \
        *op = weft_Op_integer(made);                                                               \
        finish(ierror, code);                                                                      \
    }                                                                                              \
    BOTH(lower, UPPER)

OP_CREATE(op_create, OP_CREATE, Op_create, weft_fortran_op)
OP_CREATE(op_create_c, OP_CREATE_C, Op_create_c, weft_fortran_op_c)

/* ---- Error handlers */
#define CREATE_ERRHANDLER(kind, KIND, Kind)                                                        \
    void FORTRAN(kind##_create_errhandler)(weft_fortran_procedure * procedure, int *errhandler,    \
                                           int *ierror)                                            \
    {                                                                                              \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                 \
        MPI_##Kind##_errhandler_function *function = weft_fortran_##kind##_errhandler(procedure);  \
        int code = function ? CALL(Kind##_create_errhandler)(function, &made)                      \
                            : too_many("MPI_" #Kind "_create_errhandler", ierror);                 \
        *errhandler = weft_Errhandler_integer(made);                                               \
        finish(ierror, code);                                                                      \
    }                                                                                              \
    BOTH(kind##_create_errhandler, KIND##_CREATE_ERRHANDLER)

CREATE_ERRHANDLER(comm, COMM, Comm)
WEFT_FORTRAN_MPI_1(comm_create_errhandler, errhandler_create, ERRHANDLER_CREATE)
CREATE_ERRHANDLER(file, FILE, File)
CREATE_ERRHANDLER(win, WIN, Win)
CREATE_ERRHANDLER(session, SESSION, Session)

/* ---- Attributes */
#define CREATE_KEYVAL(lower, UPPER, Name, kind, Integer, width)                                    \
    void FORTRAN(lower)(weft_fortran_procedure * copy, weft_fortran_procedure * delete,            \
                        int *keyval, Integer *extra_state, int *ierror)                            \
    {                                                                                              \
        struct weft_fortran_keyval *key = weft_fortran_keyval(copy, delete, *extra_state, width);  \
        finish(ierror,                                                                             \
               CALL(Name)(weft_fortran_##kind##_copy, weft_fortran_##kind##_delete, keyval, key)); \
    }                                                                                              \
    BOTH(lower, UPPER)

#define SET_ATTR(lower, UPPER, Name, Kind, Integer, width)                                         \
    void FORTRAN(lower)(const int *object, const int *keyval, Integer *attribute_val, int *ierror) \
    {                                                                                              \
        void *box = weft_fortran_box(*attribute_val, width);                                       \
        int code = CALL(Name)(weft_##Kind##_of(*object), *keyval, box);                            \
        if (code != MPI_SUCCESS)                                                                   \
            weft_fortran_unbox(box);                                                               \
        finish(ierror, code);                                                                      \
    }                                                                                              \
    BOTH(lower, UPPER)

#define GET_ATTR(lower, UPPER, Name, Kind, Integer)                                                \
    void FORTRAN(lower)(const int *object, const int *keyval, Integer *attribute_val, int *flag,   \
                        int *ierror)                                                               \
    {                                                                                              \
        void *kept = NULL;                                                                         \
        int found = 0, key = weft_fortran_key(*keyval);                                            \
        int code = CALL(Name)(weft_##Kind##_of(*object), key, &kept, &found);                      \
        if (code == MPI_SUCCESS && found)                                                          \
            *attribute_val = (Integer)weft_fortran_value(key, kept);                               \
        *flag = weft_fortran_logical(found);                                                       \
        finish(ierror, code);                                                                      \
    }                                                                                              \
    BOTH(lower, UPPER)

CREATE_KEYVAL(keyval_create, KEYVAL_CREATE, Keyval_create, comm, int, WEFT_FORTRAN_INTEGER)
CREATE_KEYVAL(comm_create_keyval, COMM_CREATE_KEYVAL, Comm_create_keyval, comm, MPI_Aint,
              WEFT_FORTRAN_ADDRESS)
CREATE_KEYVAL(type_create_keyval, TYPE_CREATE_KEYVAL, Type_create_keyval, type, MPI_Aint,
              WEFT_FORTRAN_ADDRESS)
CREATE_KEYVAL(win_create_keyval, WIN_CREATE_KEYVAL, Win_create_keyval, win, MPI_Aint,
              WEFT_FORTRAN_ADDRESS)
SET_ATTR(attr_put, ATTR_PUT, Attr_put, Comm, int, WEFT_FORTRAN_INTEGER)
SET_ATTR(comm_set_attr, COMM_SET_ATTR, Comm_set_attr, Comm, MPI_Aint, WEFT_FORTRAN_ADDRESS)
SET_ATTR(type_set_attr, TYPE_SET_ATTR, Type_set_attr, Type, MPI_Aint, WEFT_FORTRAN_ADDRESS)
SET_ATTR(win_set_attr, WIN_SET_ATTR, Win_set_attr, Win, MPI_Aint, WEFT_FORTRAN_ADDRESS)
GET_ATTR(attr_get, ATTR_GET, Attr_get, Comm, int)
GET_ATTR(comm_get_attr, COMM_GET_ATTR, Comm_get_attr, Comm, MPI_Aint)
GET_ATTR(type_get_attr, TYPE_GET_ATTR, Type_get_attr, Type, MPI_Aint)
GET_ATTR(win_get_attr, WIN_GET_ATTR, Win_get_attr, Win, MPI_Aint)

/* ---- Generalized requests */

void FORTRAN(grequest_start)(weft_fortran_procedure *query_fn, weft_fortran_procedure *free_fn,
                             weft_fortran_procedure *cancel_fn, MPI_Aint *extra_state, int *request,
                             int *ierror)
{
    struct weft_fortran_grequest *state = weft_fortran_allocate(1, sizeof *state);
    MPI_Request made = MPI_REQUEST_NULL;
    *state = (struct weft_fortran_grequest){query_fn, free_fn, cancel_fn, *extra_state};
    int code = CALL(Grequest_start)(weft_fortran_grequest_query, weft_fortran_grequest_free,
                                    weft_fortran_grequest_cancel, state, &made);
    if (code != MPI_SUCCESS)
        free(state);
    *request = weft_Request_integer(made);
    finish(ierror, code);
}
BOTH(grequest_start, GREQUEST_START)

/* ---- Data representations: their states are kept, since none is ever freed */

static _Atomic(struct weft_fortran_datarep *) newest_datarep;

static void keep(struct weft_fortran_datarep *state)
{
    state->older = newest_datarep;
    while (!atomic_compare_exchange_weak(&newest_datarep, &state->older, state))
        ;
}

#define REGISTER_DATAREP(lower, UPPER, Name, form, none)                                           \
    void FORTRAN(lower)(const char *datarep, weft_fortran_procedure *read_conversion_fn,           \
                        weft_fortran_procedure *write_conversion_fn,                               \
                        weft_fortran_procedure *dtype_file_extent_fn, MPI_Aint *extra_state,       \
                        int *ierror, size_t datarep_length)                                        \
    {                                                                                              \
        char few[WEFT_FORTRAN_TEXT], *name = weft_fortran_text(datarep, datarep_length, few);      \
        struct weft_fortran_datarep *state = weft_fortran_allocate(1, sizeof *state);              \
        *state = (struct weft_fortran_datarep){read_conversion_fn, write_conversion_fn,            \
                                               dtype_file_extent_fn, *extra_state, NULL};          \
        int code =                                                                                 \
            CALL(Name)(name, read_conversion_fn == none ? NULL : weft_fortran_datarep_read##form,  \
                       write_conversion_fn == none ? NULL : weft_fortran_datarep_write##form,      \
                       weft_fortran_datarep_extent, state);                                        \
        if (code == MPI_SUCCESS)                                                                   \
            keep(state);                                                                           \
        else                                                                                       \
            free(state);                                                                           \
        weft_fortran_release(name, few);                                                           \
        finish(ierror, code);                                                                      \
    }                                                                                              \
    BOTH(lower, UPPER)

REGISTER_DATAREP(register_datarep, REGISTER_DATAREP, Register_datarep, , mpi_conversion_fn_null_)
REGISTER_DATAREP(register_datarep_c, REGISTER_DATAREP_C, Register_datarep_c, _c,
                 mpi_conversion_fn_null_c_)
