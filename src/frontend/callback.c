// SPDX-License-Identifier: BSD-3-Clause
/*
 * Callbacks: the core calls a function of this file, which calls the user's with the handles and
 * codes of the front end.
 *
 * Invariant: the state of a key is never freed, since objects may have attributes after their key
 * was freed; that of a generalized request is freed with it.
 */
#include "frontend/frontend.h"

/* ---- Operations */

static void call_op(MPI_User_function *user, void *in, void *inout, int *count, MPI_Datatype type)
{
    weft_assert(user && type != MPI_DATATYPE_NULL);
    front_Datatype handle = front_Datatype_out(type);
    ((void (*)(void *, void *, int *, front_Datatype *))user)(in, inout, count, &handle);
}

static void call_op_c(MPI_User_function_c *user, void *in, void *inout, MPI_Count *count,
                      MPI_Datatype type)
{
    weft_assert(user && type != MPI_DATATYPE_NULL);
    front_Datatype handle = front_Datatype_out(type);
    ((void (*)(void *, void *, MPI_Count *, front_Datatype *))user)(in, inout, count, &handle);
}

#define OP_CREATE(Name, form)                                                                      \
    FRONT_EXPORT(Name);                                                                            \
    int front_##Name(front_function *user_fn, int commute, front_Op *op)                           \
    {                                                                                              \
        MPI_Op made = MPI_OP_NULL;                                                                 \
        int code =                                                                                 \
            weft_abi_##Name((MPI_User_function##form *)user_fn, commute, op ? &made : NULL);       \
        if (code == MPI_SUCCESS) {                                                                 \
            weft_abi_op_caller(made, call_op, call_op_c);                                          \
            *op = front_Op_out(made);                                                              \
        }                                                                                          \
        return front_code(code);                                                                   \
    }
OP_CREATE(Op_create, )
OP_CREATE(Op_create_c, _c)

/* ---- Error handlers */

#define ERRHANDLER(kind, member)                                                                   \
    static int call_##member(union weft_errhandler_call user, void *handle, int code)              \
    {                                                                                              \
        front_##kind theirs = front_##kind##_out(handle);                                          \
        int passed = front_code(code); /* the handler may change it */                             \
        ((void (*)(front_##kind *, int *, ...))user.member)(&theirs, &passed);                     \
        return code;                                                                               \
    }                                                                                              \
    FRONT_EXPORT(kind##_create_errhandler);                                                        \
    int front_##kind##_create_errhandler(front_function *member##_errhandler_fn,                   \
                                         front_Errhandler *errhandler)                             \
    {                                                                                              \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                 \
        int code = weft_abi_##kind##_create_errhandler(                                            \
            (MPI_##kind##_errhandler_function *)member##_errhandler_fn,                            \
            errhandler ? &made : NULL);                                                            \
        if (code == MPI_SUCCESS) {                                                                 \
            weft_abi_errhandler_caller(made, call_##member);                                       \
            *errhandler = front_Errhandler_out(made);                                              \
        }                                                                                          \
        return front_code(code);                                                                   \
    }

ERRHANDLER(Comm, comm)
FRONT_ALIAS(Comm_create_errhandler, "MPI_Errhandler_create");
FRONT_ALIAS(Comm_create_errhandler, "PMPI_Errhandler_create");
ERRHANDLER(File, file)
ERRHANDLER(Session, session)
ERRHANDLER(Win, win)

/* Errors without a communicator go to MPI_COMM_SELF's handler, but went to MPI_COMM_WORLD's before
 * MPI 4: a program that sets the latter only means both. */
FRONT_EXPORT(Comm_set_errhandler);
FRONT_ALIAS(Comm_set_errhandler, "MPI_Errhandler_set");
FRONT_ALIAS(Comm_set_errhandler, "PMPI_Errhandler_set");
int front_Comm_set_errhandler(front_Comm comm, front_Errhandler errhandler)
{
    static bool self_is_set;
    MPI_Comm ours = front_Comm_in(comm);
    int code = weft_abi_Comm_set_errhandler(ours, front_Errhandler_in(errhandler));
    if (ours == MPI_COMM_SELF)
        self_is_set = true;
    else if (ours == MPI_COMM_WORLD && !self_is_set && code == MPI_SUCCESS)
        weft_abi_Comm_set_errhandler(MPI_COMM_SELF, front_Errhandler_in(errhandler));
    return front_code(code);
}

/* ---- Attributes */

/* Predefined functions: those of a standard's value 1 copy the attribute. */
struct front_predefined {
    front_function *function;
    intptr_t value;
};

#define COPY(name, copies)                                                                         \
    FRONT_PUBLIC int name(void *object, int keyval, void *extra, void *in, void *out, int *flag);  \
    int name(void *object, int keyval, void *extra, void *in, void *out, int *flag)                \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra;                                                   \
        *flag = copies;                                                                            \
        if (copies)                                                                                \
            *(void **)out = in;                                                                    \
        return MPI_SUCCESS;                                                                        \
    }
#define DELETE(name)                                                                               \
    FRONT_PUBLIC int name(void *object, int keyval, void *value, void *extra);                     \
    int name(void *object, int keyval, void *value, void *extra)                                   \
    {                                                                                              \
        (void)object, (void)keyval, (void)value, (void)extra;                                      \
        return MPI_SUCCESS;                                                                        \
    }
#include "attributes.h" /* made by abi/frontend.py */

/* The standard's value of a predefined function, or -1 if it is another. */
static intptr_t predefined_value(front_function *function)
{
    if (!function)
        return 0;
    for (size_t i = 0; i < FRONT_COUNT(predefined); i++)
        if (function == predefined[i].function)
            return predefined[i].value;
    return -1;
}

struct keyval {
    front_function *copy, *delete;
    void *extra;
    front_function *copy_proxy, *delete_proxy; /* of another language, or NULL */
};

static struct keyval *make_keyval(front_function *copy, front_function *delete, void *extra)
{
    struct keyval *keyval = front_allocate(1, sizeof *keyval);
    *keyval = (struct keyval){copy, delete, extra, NULL, NULL};
    return keyval;
}

void front_keyval_proxies(int number, front_function *copy, front_function *delete)
{
    struct keyval *keyval = weft_abi_keyval_extra(front_keyval_in(number));
    weft_assert(keyval);
    keyval->copy_proxy = copy;
    keyval->delete_proxy = delete;
}

/* A proxy gets the user's function, and after the key or the extra state the type of the attribute:
 * 0 is a pointer. */

#define KEYVAL(Name, Kind, name)                                                                   \
    static int copy_##name(MPI_##Kind object, int number, void *extra, void *in, void *out,        \
                           int *flag)                                                              \
    {                                                                                              \
        struct keyval *keyval = extra;                                                             \
        weft_assert(keyval && keyval->copy);                                                       \
        if (keyval->copy_proxy)                                                                    \
            return front_error_in(((int (*)(front_function *, front_##Kind, int, void *, int,      \
                                            void *, void *, int *))keyval->copy_proxy)(            \
                keyval->copy, front_##Kind##_out(object), front_keyval_out(number), keyval->extra, \
                0, in, out, flag));                                                                \
        return front_error_in((                                                                    \
            (int (*)(front_##Kind, int, void *, void *, void *, int *))keyval->copy)(              \
            front_##Kind##_out(object), front_keyval_out(number), keyval->extra, in, out, flag));  \
    }                                                                                              \
    static int delete_##name(MPI_##Kind object, int number, void *value, void *extra)              \
    {                                                                                              \
        struct keyval *keyval = extra;                                                             \
        weft_assert(keyval && keyval->delete);                                                     \
        if (keyval->delete_proxy)                                                                  \
            return front_error_in(((int (*)(front_function *, front_##Kind, int, int, void *,      \
                                            void *))keyval->delete_proxy)(                         \
                keyval->delete, front_##Kind##_out(object), front_keyval_out(number), 0, value,    \
                keyval->extra));                                                                   \
        return front_error_in(((int (*)(front_##Kind, int, void *, void *))keyval->delete)(        \
            front_##Kind##_out(object), front_keyval_out(number), value, keyval->extra));          \
    }                                                                                              \
    FRONT_EXPORT(Name##_create_keyval);                                                            \
    int front_##Name##_create_keyval(front_function *copy, front_function *delete, int *number,    \
                                     void *extra)                                                  \
    {                                                                                              \
        intptr_t copies = predefined_value(copy), deletes = predefined_value(delete);              \
        struct keyval *keyval = make_keyval(copy, delete, extra);                                  \
        int code = weft_abi_##Name##_create_keyval(                                                \
            copies >= 0 ? (MPI_##Name##_copy_attr_function *)copies : copy_##name,                 \
            deletes >= 0 ? (MPI_##Name##_delete_attr_function *)deletes : delete_##name, number,   \
            keyval);                                                                               \
        return front_code(code);                                                                   \
    }

KEYVAL(Comm, Comm, comm)
KEYVAL(Type, Datatype, type)
KEYVAL(Win, Win, win)

FRONT_EXPORT(Keyval_create);
int front_Keyval_create(front_function *copy_fn, front_function *delete_fn, int *keyval,
                        void *extra_state)
{
    return front_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}

/* The address of the other MPI's value of a constant, or of a value that is no constant. The table
 * has it, since the value of one window remains when that of another is read. */
static void *constant(const struct front_pair *pairs, size_t n, const int *value)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i].ours == *value)
            return (void *)&pairs[i].theirs;
    return (void *)value;
}

/* Predefined attributes whose values are constants, with the other MPI's values. */
static void *converted(int number, void *value)
{
    static int last;
    switch (number) {
    case MPI_HOST:
    case MPI_IO:
        return constant(front_ranks, FRONT_COUNT(front_ranks), value);
    case MPI_LASTUSEDCODE:
        if (!FRONT_CODE_SHIFT)
            return value; /* programs may keep it */
        last = front_error_out(*(int *)value);
        return &last;
    case MPI_WIN_CREATE_FLAVOR:
        return constant(front_flavors, FRONT_COUNT(front_flavors), value);
    case MPI_WIN_MODEL:
        return constant(front_models, FRONT_COUNT(front_models), value);
    default:
        return value;
    }
}

#define GET_ATTR(Function, Kind)                                                                   \
    FRONT_EXPORT(Function);                                                                        \
    int front_##Function(front_##Kind object, int number, void *value, int *flag)                  \
    {                                                                                              \
        int ours = front_keyval_in(number);                                                        \
        int code = weft_abi_##Function(front_##Kind##_in(object), ours, value, flag);              \
        if (code == MPI_SUCCESS && *flag)                                                          \
            *(void **)value = converted(ours, *(void **)value);                                    \
        return front_code(code);                                                                   \
    }

GET_ATTR(Comm_get_attr, Comm)
GET_ATTR(Attr_get, Comm)
GET_ATTR(Type_get_attr, Datatype)
GET_ATTR(Win_get_attr, Win)

/* ---- Generalized requests */

struct grequest {
    front_function *query, *free, *cancel;
    void *extra;
};

static int query_grequest(void *extra, MPI_Status *status)
{
    struct grequest *grequest = extra;
    weft_assert(grequest->query);
    front_Status theirs = {0};
    int code = ((int (*)(void *, front_Status *))grequest->query)(grequest->extra, &theirs);
    front_status_in(&theirs, status);
    return front_error_in(code);
}

static int free_grequest(void *extra)
{
    struct grequest *grequest = extra;
    weft_assert(grequest->free);
    int code = ((int (*)(void *))grequest->free)(grequest->extra);
    free(grequest);
    return front_error_in(code);
}

static int cancel_grequest(void *extra, int complete)
{
    struct grequest *grequest = extra;
    weft_assert(grequest->cancel);
    return front_error_in(((int (*)(void *, int))grequest->cancel)(grequest->extra, complete));
}

FRONT_EXPORT(Grequest_start);
int front_Grequest_start(front_function *query_fn, front_function *free_fn,
                         front_function *cancel_fn, void *extra_state, front_Request *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    struct grequest *grequest = front_allocate(1, sizeof *grequest);
    *grequest = (struct grequest){query_fn, free_fn, cancel_fn, extra_state};
    int code = weft_abi_Grequest_start(
        query_fn ? query_grequest : NULL, free_fn ? free_grequest : NULL,
        cancel_fn ? cancel_grequest : NULL, grequest, request ? &made : NULL);
    if (code == MPI_SUCCESS)
        *request = front_Request_out(made);
    else
        free(grequest);
    return front_code(code);
}

/* ---- Data representations; MPI keeps them until the end */

struct datarep {
    front_function *read, *write, *extent;
    void *extra;
};

#define CONVERT(name, form, Count)                                                                 \
    static int name##_datarep##form(void *userbuf, MPI_Datatype type, Count count, void *filebuf,  \
                                    MPI_Offset position, void *extra)                              \
    {                                                                                              \
        struct datarep *datarep = extra;                                                           \
        weft_assert(datarep->name);                                                                \
        return front_error_in(                                                                     \
            ((int (*)(void *, front_Datatype, Count, void *, MPI_Offset, void *))datarep->name)(   \
                userbuf, front_Datatype_out(type), count, filebuf, position, datarep->extra));     \
    }
CONVERT(read, , int)
CONVERT(write, , int)
CONVERT(read, _c, MPI_Count)
CONVERT(write, _c, MPI_Count)

static int datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    struct datarep *datarep = extra;
    weft_assert(datarep->extent);
    return front_error_in(((int (*)(front_Datatype, MPI_Aint *, void *))datarep->extent)(
        front_Datatype_out(type), extent, datarep->extra));
}

#define REGISTER_DATAREP(Name, form)                                                               \
    FRONT_EXPORT(Name);                                                                            \
    int front_##Name(const char *name, front_function *read, front_function *write,                \
                     front_function *extent, void *extra)                                          \
    {                                                                                              \
        struct datarep *datarep = front_allocate(1, sizeof *datarep);                              \
        *datarep = (struct datarep){read, write, extent, extra};                                   \
        int code = weft_abi_##Name(name, read ? read_datarep##form : NULL,                         \
                                   write ? write_datarep##form : NULL,                             \
                                   extent ? datarep_extent : NULL, datarep);                       \
        if (code != MPI_SUCCESS)                                                                   \
            free(datarep);                                                                         \
        return front_code(code);                                                                   \
    }
REGISTER_DATAREP(Register_datarep, )
REGISTER_DATAREP(Register_datarep_c, _c)
