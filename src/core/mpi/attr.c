// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attributes of communicators and datatypes, and their keys (MPI 5.0 sections 7.7 and 9.1.2).
 *
 * Invariant: the predefined attributes are the same on every communicator, and cannot be changed.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/attribute.h"
#include "core/datatype/datatype.h"
#include "core/object/error.h"
#include "core/object/error_code.h"
#include "core/process/weft.h"

/* ---- Keys */

static int create_keyval(const char *function, enum weft_kind kind, union weft_attribute_copy copy,
                         union weft_attribute_delete delete, int *number, void *extra)
{
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_keyval *keyval = number ? weft_keyval_make(kind, copy, delete, extra) : NULL;
    if (keyval)
        *number = keyval->number;
    else
        code = number ? weft_error_raise(NULL, MPI_ERR_NO_MEM, function)
                      : weft_call_no_result(NULL, function, "attribute key");
    weft_leave();
    return code;
}

static bool is_predefined(int number)
{
    return number >= MPI_TAG_UB && number <= MPI_UNIVERSE_SIZE;
}

/* The key of a number, or NULL after raising the error. */
static struct weft_keyval *find_keyval(const char *function, struct weft_comm *comm,
                                       enum weft_kind kind, int number)
{
    struct weft_keyval *keyval = weft_keyval_find(kind, number);
    if (keyval)
        return keyval;
    if (kind == WEFT_KIND_COMM && is_predefined(number))
        weft_error(comm, MPI_ERR_KEYVAL, function,
                   "the predefined attribute with key %d cannot be set, deleted or freed", number);
    else
        weft_error(comm, MPI_ERR_KEYVAL, function,
                   "%d is no attribute key for this kind of object; was it freed?", number);
    return NULL;
}

static int free_keyval(const char *function, enum weft_kind kind, int *number)
{
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_keyval *keyval =
        find_keyval(function, NULL, kind, number ? *number : MPI_KEYVAL_INVALID);
    if (keyval) {
        weft_keyval_free(keyval);
        *number = MPI_KEYVAL_INVALID;
    } else {
        code = MPI_ERR_KEYVAL;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_create_keyval);
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *del,
                            int *keyval, void *extra)
{
    return create_keyval("MPI_Comm_create_keyval", WEFT_KIND_COMM,
                         (union weft_attribute_copy){.comm = copy},
                         (union weft_attribute_delete){.comm = del}, keyval, extra);
}

WEFT_EXPORT(Comm_free_keyval);
int PMPI_Comm_free_keyval(int *keyval)
{
    return free_keyval("MPI_Comm_free_keyval", WEFT_KIND_COMM, keyval);
}

WEFT_EXPORT(Keyval_create);
int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *del, int *keyval, void *extra)
{
    return create_keyval("MPI_Keyval_create", WEFT_KIND_COMM,
                         (union weft_attribute_copy){.comm = copy},
                         (union weft_attribute_delete){.comm = del}, keyval, extra);
}

WEFT_EXPORT(Keyval_free);
int PMPI_Keyval_free(int *keyval)
{
    return free_keyval("MPI_Keyval_free", WEFT_KIND_COMM, keyval);
}

WEFT_EXPORT(Type_create_keyval);
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *del,
                            int *keyval, void *extra)
{
    return create_keyval("MPI_Type_create_keyval", WEFT_KIND_DATATYPE,
                         (union weft_attribute_copy){.type = copy},
                         (union weft_attribute_delete){.type = del}, keyval, extra);
}

WEFT_EXPORT(Type_free_keyval);
int PMPI_Type_free_keyval(int *keyval)
{
    return free_keyval("MPI_Type_free_keyval", WEFT_KIND_DATATYPE, keyval);
}

WEFT_EXPORT(Win_create_keyval);
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *del,
                           int *keyval, void *extra)
{
    return create_keyval("MPI_Win_create_keyval", WEFT_KIND_WIN,
                         (union weft_attribute_copy){.win = copy},
                         (union weft_attribute_delete){.win = del}, keyval, extra);
}

WEFT_EXPORT(Win_free_keyval);
int PMPI_Win_free_keyval(int *keyval)
{
    return free_keyval("MPI_Win_free_keyval", WEFT_KIND_WIN, keyval);
}

/* ---- Attributes of an object; errors go to comm's handler */

static int set(const char *function, struct weft_comm *comm, struct weft_attributed of, int number,
               void *value)
{
    struct weft_keyval *keyval = find_keyval(function, comm, of.kind, number);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    int code = weft_attribute_set(of, keyval, value);
    return code == MPI_SUCCESS ? code : weft_error_raise(comm, code, function);
}

static int get(const char *function, struct weft_comm *comm, struct weft_attributed of, int number,
               void *value, int *flag)
{
    if (!value || !flag)
        return weft_call_no_result(comm, function, value ? "flag" : "attribute");
    struct weft_keyval *keyval = find_keyval(function, comm, of.kind, number);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    *flag = weft_attribute_get(of, keyval, value);
    return MPI_SUCCESS;
}

static int delete (const char *function, struct weft_comm *comm, struct weft_attributed of,
                   int number)
{
    struct weft_keyval *keyval = find_keyval(function, comm, of.kind, number);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    int code = weft_attribute_delete_one(of, keyval);
    return code == MPI_SUCCESS ? code : weft_error_raise(comm, code, function);
}

/* ---- Of communicators */

/* Where the value of a predefined attribute lies; NULL when it is not set. */
static int *predefined(int number)
{
    static int no_host = MPI_PROC_NULL, any = MPI_ANY_SOURCE, not_global = 0;
    switch (number) {
    case MPI_TAG_UB:
        return &weft.tag_ub;
    case MPI_IO: /* every process does the language's input and output */
        return &any;
    case MPI_HOST:
        return &no_host;
    case MPI_WTIME_IS_GLOBAL:
        return &not_global;
    case MPI_APPNUM:
        return weft.job.singleton ? NULL : &weft.job.appnum;
    case MPI_LASTUSEDCODE:
        return &weft_error_code_last;
    case MPI_UNIVERSE_SIZE:
        return weft.job.universe > 0 ? &weft.job.universe : NULL;
    default:
        return NULL;
    }
}

static int comm_set(const char *function, MPI_Comm handle, int number, void *value)
{
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    code = set(function, comm, weft_comm_attributed(comm), number, value);
    weft_leave();
    return code;
}

static int comm_get(const char *function, MPI_Comm handle, int number, void *value, int *flag)
{
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (is_predefined(number) && value && flag) {
        *flag = predefined(number) != NULL;
        if (*flag)
            *(int **)value = predefined(number);
    } else {
        code = get(function, comm, weft_comm_attributed(comm), number, value, flag);
    }
    weft_leave();
    return code;
}

static int comm_delete(const char *function, MPI_Comm handle, int number)
{
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    code = delete (function, comm, weft_comm_attributed(comm), number);
    weft_leave();
    return code;
}

WEFT_EXPORT(Comm_set_attr);
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    return comm_set("MPI_Comm_set_attr", comm, keyval, value);
}

WEFT_EXPORT(Comm_get_attr);
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return comm_get("MPI_Comm_get_attr", comm, keyval, value, flag);
}

WEFT_EXPORT(Comm_delete_attr);
int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    return comm_delete("MPI_Comm_delete_attr", comm, keyval);
}

WEFT_EXPORT(Attr_put);
int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
    return comm_set("MPI_Attr_put", comm, keyval, value);
}

WEFT_EXPORT(Attr_get);
int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return comm_get("MPI_Attr_get", comm, keyval, value, flag);
}

WEFT_EXPORT(Attr_delete);
int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return comm_delete("MPI_Attr_delete", comm, keyval);
}

/* ---- Of datatypes */

static struct weft_datatype *enter_type(const char *function, MPI_Datatype handle, int *code)
{
    *code = weft_enter(function);
    if (*code)
        return NULL;
    struct weft_datatype *type = weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
    if (type)
        return type;
    *code = weft_error(NULL, MPI_ERR_TYPE, function, "%p is no datatype; was it freed?",
                       (void *)handle);
    weft_leave();
    return NULL;
}

WEFT_EXPORT(Type_set_attr);
int PMPI_Type_set_attr(MPI_Datatype handle, int keyval, void *value)
{
    const char *function = "MPI_Type_set_attr";
    int code;
    struct weft_datatype *type = enter_type(function, handle, &code);
    if (!type)
        return code;
    code = set(function, NULL, weft_datatype_attributed(type), keyval, value);
    weft_leave();
    return code;
}

WEFT_EXPORT(Type_get_attr);
int PMPI_Type_get_attr(MPI_Datatype handle, int keyval, void *value, int *flag)
{
    const char *function = "MPI_Type_get_attr";
    int code;
    struct weft_datatype *type = enter_type(function, handle, &code);
    if (!type)
        return code;
    code = get(function, NULL, weft_datatype_attributed(type), keyval, value, flag);
    weft_leave();
    return code;
}

WEFT_EXPORT(Type_delete_attr);
int PMPI_Type_delete_attr(MPI_Datatype handle, int keyval)
{
    const char *function = "MPI_Type_delete_attr";
    int code;
    struct weft_datatype *type = enter_type(function, handle, &code);
    if (!type)
        return code;
    code = delete (function, NULL, weft_datatype_attributed(type), keyval);
    weft_leave();
    return code;
}
