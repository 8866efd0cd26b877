// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=shm,rxm seconds=30
/*
 * Functions of the user that use or free the object for which they are called: each call in them
 * works or returns an error with a sentence, the call around them completes, and the object can be
 * used and freed afterwards. Tables of functions and of the calls made in them; each pair is tried.
 */
#include "file.h"

/* The call that the next function of the user makes, once, and what it returned. */
static struct {
    const char *name;
    int (*call)(void);
    int calls, code;
} inner;

static void act(void)
{
    if (!inner.call || inner.calls)
        return;
    inner.calls++;
    inner.code = inner.call();
}

static void prepare(const char *name, int (*call)(void))
{
    inner.name = name;
    inner.call = call;
    inner.calls = inner.code = 0;
}

/* The inner call was made, and returned success or an error with a sentence. */
static void check_inner(const char *where, bool works)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    CHECK(inner.calls == 1, "%s in %s was called %d times", inner.name, where, inner.calls);
    CHECK(!works || !inner.code, "%s in %s returned %d", inner.name, where, inner.code);
    if (inner.code != MPI_SUCCESS)
        MPI_Error_string(inner.code, text, &length);
    CHECK(works || inner.code == MPI_ERR_IN_STATUS || (inner.code && strstr(text, ": ")),
          "%s in %s returned %d: %s", inner.name, where, inner.code, text);
    inner.call = NULL;
}

struct act {
    const char *name;
    int (*call)(void);
    bool works[2]; /* in the table's first and second function */
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int end_mpi(void)
{
    return MPI_Finalize();
}

/* ---- Attributes of communicators, datatypes and windows */

enum kind { COMM, TYPE, WIN };
static struct {
    enum kind kind;
    int key, other, window;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Win win;
} on;

/* MPI_Comm_call(communicator, ...), MPI_Type_call or MPI_Win_call. */
#define ON(call, ...)                                                                              \
    (on.kind == COMM   ? MPI_Comm_##call(on.comm, __VA_ARGS__)                                     \
     : on.kind == TYPE ? MPI_Type_##call(on.type, __VA_ARGS__)                                     \
                       : MPI_Win_##call(on.win, __VA_ARGS__))

static int copy(void *value, void *out, int *flag)
{
    act();
    memcpy(out, &value, sizeof value);
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_comm(MPI_Comm comm, int key, void *extra, void *value, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    return copy(value, out, flag);
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *value, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    return copy(value, out, flag);
}

static int copy_win(MPI_Win win, int key, void *extra, void *value, void *out, int *flag)
{
    (void)win, (void)key, (void)extra;
    return copy(value, out, flag);
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    act();
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    act();
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)value, (void)extra;
    act();
    return MPI_SUCCESS;
}

static void make_key(int *key)
{
    if (on.kind == COMM)
        MPI_Comm_create_keyval(copy_comm, delete_comm, key, NULL);
    else if (on.kind == TYPE)
        MPI_Type_create_keyval(copy_type, delete_type, key, NULL);
    else
        MPI_Win_create_keyval(copy_win, delete_win, key, NULL);
}

static int free_key(int key)
{
    return on.kind == COMM   ? MPI_Comm_free_keyval(&key)
           : on.kind == TYPE ? MPI_Type_free_keyval(&key)
                             : MPI_Win_free_keyval(&key);
}

static int free_object(void)
{
    MPI_Comm comm = on.comm;
    MPI_Datatype type = on.type;
    MPI_Win win = on.win;
    return on.kind == COMM   ? MPI_Comm_free(&comm)
           : on.kind == TYPE ? MPI_Type_free(&type)
                             : MPI_Win_free(&win);
}

static int disconnect(void)
{
    MPI_Comm comm = on.comm;
    return on.kind == COMM ? MPI_Comm_disconnect(&comm) : free_object();
}

static int delete_own(void)
{
    return ON(delete_attr, on.key);
}

static int delete_other(void)
{
    return ON(delete_attr, on.other);
}

static int set_own(void)
{
    return ON(set_attr, on.key, &on);
}

static int set_other(void)
{
    return ON(set_attr, on.other, &on);
}

static int get_own(void)
{
    void *value;
    int flag = 0, code = ON(get_attr, on.key, &value, &flag);
    CHECK(flag, "the attribute is not set");
    return code;
}

static int free_own_key(void)
{
    int key = on.key;
    make_key(&on.key); /* for the caller, which frees it */
    return free_key(key);
}

static int duplicate(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    int code = MPI_SUCCESS;
    if (on.kind == COMM)
        code = MPI_Comm_dup(on.comm, &comm) || MPI_Comm_free(&comm);
    else if (on.kind == TYPE)
        code = MPI_Type_dup(on.type, &type) || MPI_Type_free(&type);
    return code;
}

static int name(void)
{
    return ON(set_name, "a name");
}

static const struct act attribute_acts[] = {
    {"delete its attribute", delete_own, {true, false}},
    {"delete another attribute", delete_other, {true, true}},
    {"replace its attribute", set_own, {true, false}},
    {"replace another attribute", set_other, {true, true}},
    {"get the attribute", get_own, {true, true}},
    {"free the key", free_own_key, {true, true}},
    {"duplicate the object", duplicate, {true, true}},
    {"name the object", name, {true, true}},
    {"free the object", free_object, {false, false}},
    {"disconnect the object", disconnect, {false, false}},
    {"MPI_Finalize", end_mpi, {false, false}},
};

static void make_object(void)
{
    if (on.kind == COMM) {
        MPI_Comm_dup(MPI_COMM_WORLD, &on.comm);
        MPI_Comm_set_errhandler(on.comm, MPI_ERRORS_RETURN);
    } else if (on.kind == TYPE) {
        MPI_Type_contiguous(3, MPI_INT, &on.type);
    } else {
        MPI_Win_create(&on.window, sizeof on.window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &on.win);
        MPI_Win_set_errhandler(on.win, MPI_ERRORS_RETURN);
    }
    make_key(&on.key);
    make_key(&on.other);
    ON(set_attr, on.other, NULL);
    ON(set_attr, on.key, NULL);
}

/* Where the function is called: by a copy, by a deletion, or by the end of the object. */
enum where { COPY, DELETE, END };

static void attribute(enum kind kind, enum where where, const struct act *act)
{
    static const char *const names[] = {"a copy function", "a delete function",
                                        "the delete function of an object that is freed"};
    on.kind = kind;
    make_object();
    check_step("%s in %s, kind %d", act->name, names[where], (int)kind);
    if (where != END) {
        prepare(act->name, act->call);
        if (where == COPY)
            CHECK_CLASS(duplicate(), MPI_SUCCESS);
        else
            CHECK_CLASS(delete_own(), MPI_SUCCESS);
        check_inner(names[where], act->works[where]);
        CHECK_CLASS(free_object(), MPI_SUCCESS);
    } else {
        prepare(act->name, act->call);
        CHECK_CLASS(free_object(), MPI_SUCCESS);
        check_inner(names[where], act->works[DELETE]);
    }
    free_key(on.key);
    free_key(on.other);
}

static void attributes(void)
{
    for (size_t i = 0; i < COUNT(attribute_acts); i++)
        for (int kind = COMM; kind <= WIN; kind++)
            for (int where = kind == WIN ? DELETE : COPY; where <= END; where++)
                attribute((enum kind)kind, (enum where)where, &attribute_acts[i]);
}

/* ---- Generalized requests */

static MPI_Request request;

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    if (state == &query)
        act();
    return MPI_SUCCESS;
}

static int release(void *state)
{
    if (state == &release)
        act();
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)complete;
    if (state == &cancel)
        act();
    return MPI_SUCCESS;
}

static int wait_for(void)
{
    MPI_Request own = request;
    return MPI_Wait(&own, MPI_STATUS_IGNORE);
}

static int test(void)
{
    MPI_Request own = request;
    int flag;
    return MPI_Test(&own, &flag, MPI_STATUS_IGNORE);
}

static int wait_all(void)
{
    MPI_Request own[2] = {MPI_REQUEST_NULL, request};
    return MPI_Waitall(2, own, MPI_STATUSES_IGNORE);
}

static int test_any(void)
{
    MPI_Request own = request;
    int flag, index;
    return MPI_Testany(1, &own, &index, &flag, MPI_STATUS_IGNORE);
}

static int give_up(void)
{
    MPI_Request own = request;
    return MPI_Request_free(&own);
}

static int look(void)
{
    int flag;
    return MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}

static int complete(void)
{
    return MPI_Grequest_complete(request);
}

static int cancel_it(void)
{
    MPI_Request own = request;
    return MPI_Cancel(&own);
}

/* In the query and free functions; a cancel function is called before the completion. */
static const struct act request_acts[] = {
    {"MPI_Wait", wait_for, {false, false}},
    {"MPI_Test", test, {false, false}},
    {"MPI_Waitall", wait_all, {false, false}},
    {"MPI_Testany", test_any, {false, false}},
    {"MPI_Request_free", give_up, {false, false}},
    {"MPI_Request_get_status", look, {false, false}},
    {"MPI_Grequest_complete", complete, {false, false}},
    {"MPI_Cancel", cancel_it, {true, true}},
    {"MPI_Finalize", end_mpi, {false, false}},
};

static void start(void *state)
{
    MPI_Grequest_start(query, release, cancel, state, &request);
}

static void generalized(void)
{
    for (size_t i = 0; i < COUNT(request_acts); i++)
        for (int where = 0; where < 2; where++) {
            const struct act *act = &request_acts[i];
            check_step("%s in function %d of a generalized request", act->name, where);
            start(where ? (void *)&release : (void *)&query);
            MPI_Grequest_complete(request);
            prepare(act->name, act->call);
            MPI_Request own = request;
            CHECK_CLASS(MPI_Wait(&own, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK(own == MPI_REQUEST_NULL, "%s: the request is left", act->name);
            check_inner(where ? "a free function" : "a query function", act->works[where]);
        }
    check_step("a free function that waits, in MPI_Request_free and after it");
    for (int late = 0; late < 2; late++) {
        start(&release);
        if (!late)
            MPI_Grequest_complete(request);
        prepare("MPI_Wait", wait_for);
        MPI_Request own = request;
        CHECK_CLASS(MPI_Request_free(&own), MPI_SUCCESS);
        if (late)
            MPI_Grequest_complete(request);
        check_inner("a free function", false);
    }
    check_step("a cancel function");
    start(&cancel);
    prepare("MPI_Grequest_complete", complete);
    CHECK_CLASS(cancel_it(), MPI_SUCCESS);
    check_inner("a cancel function", true);
    CHECK_CLASS(wait_for(), MPI_SUCCESS);
}

/* ---- Operations */

static MPI_Op op;
static MPI_Datatype pair;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 2 * *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    act();
}

static int free_op(void)
{
    MPI_Op own = op;
    return MPI_Op_free(&own);
}

/* And so many others that freed types are swept. */
static int free_pair(void)
{
    int code = MPI_Type_free(&pair);
    for (int i = 0; i < 100; i++) {
        MPI_Datatype type;
        MPI_Type_contiguous(2 + i % 5, MPI_INT, &type);
        MPI_Type_free(&type);
    }
    MPI_Type_contiguous(2, MPI_INT, &pair); /* for the caller */
    MPI_Type_commit(&pair);
    return code;
}

static int nest(void)
{
    int a[2] = {1, 2}, b[2] = {3, 4};
    int code = MPI_Reduce_local(a, b, 1, pair, op);
    CHECK(b[0] == 4 && b[1] == 6, "the nested reduction is wrong");
    return code;
}

static const struct act op_acts[] = {
    {"MPI_Op_free", free_op, {true}},
    {"MPI_Type_free", free_pair, {true}},
    {"MPI_Reduce_local", nest, {true}},
};

static void reduce_by(int form, const int *in, int *out, int n)
{
    MPI_Request started;
    if (form == 0) {
        memset(out, 0, (size_t)n * sizeof *out);
        MPI_Reduce_local(in, out, n / 2, pair, op);
    } else if (form == 1) {
        MPI_Allreduce(in, out, n / 2, pair, op, MPI_COMM_WORLD);
    } else if (form == 2) {
        MPI_Iallreduce(in, out, n / 2, pair, op, MPI_COMM_WORLD, &started);
        MPI_Wait(&started, MPI_STATUS_IGNORE);
    } else {
        MPI_Scan(in, out, n / 2, pair, op, MPI_COMM_WORLD);
    }
}

static void operations(void)
{
    enum { N = 20000 };
    static int in[N], out[N];
    for (size_t i = 0; i < COUNT(op_acts); i++)
        for (int form = 0; form < 8; form++) {
            int n = form < 4 ? 2 : N;
            MPI_Op_create(add, 1, &op);
            MPI_Type_contiguous(2, MPI_INT, &pair);
            MPI_Type_commit(&pair);
            for (int k = 0; k < n; k++)
                in[k] = k + 1;
            check_step("%s in an operation, form %d", op_acts[i].name, form);
            prepare(op_acts[i].name, op_acts[i].call);
            MPI_Op used = op;
            reduce_by(form % 4, in, out, n);
            int times = form % 4 == 0 ? 1 : form % 4 == 3 ? check.rank + 1 : check.size;
            CHECK(out[0] == times && out[n - 1] == n * times, "%s, form %d: %d, %d",
                  op_acts[i].name, form, out[0], out[n - 1]);
            if (inner.calls)
                check_inner("an operation", true);
            else
                inner.call = NULL; /* this rank has combined nothing */
            if (!(inner.calls && op_acts[i].call == free_op))
                MPI_Op_free(&used);
            MPI_Type_free(&pair);
        }
}

/* ---- Error handlers */

static MPI_Comm failing;
static MPI_Win failing_win;
static MPI_File failing_file;
static MPI_Session failing_session;
static MPI_Errhandler handler;
static int handled;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
    act();
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    handled++;
    act();
}

static void on_file(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
    handled++;
    act();
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
    handled++;
    act();
}

static int fail_comm(void)
{
    int code = MPI_Send(NULL, -1, MPI_INT, 0, 0, failing);
    CHECK(check_class(code) == MPI_ERR_COUNT, "class %d", check_class(code));
    return MPI_SUCCESS;
}

static int fail_win(void)
{
    int code = MPI_Win_fence(-1, failing_win);
    CHECK(check_class(code) == MPI_ERR_ASSERT, "class %d", check_class(code));
    return MPI_SUCCESS;
}

static int fail_file(void)
{
    int code = MPI_File_seek(failing_file, -1, MPI_SEEK_SET);
    CHECK(check_class(code) == MPI_ERR_ARG, "class %d", check_class(code));
    return MPI_SUCCESS;
}

static int fail_session(void)
{
    char text[8];
    int length = 8,
        code = MPI_Session_get_nth_pset(failing_session, MPI_INFO_NULL, 99, &length, text);
    CHECK(code != MPI_SUCCESS, "a set that does not exist was found");
    return MPI_SUCCESS;
}

/* Many communicators come and go, so that freed ones are swept. */
static int free_comm(void)
{
    int code = MPI_Comm_free(&failing);
    for (int i = 0; i < 150; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_free(&comm);
    }
    return code;
}

static int replace_handler(void)
{
    return MPI_Comm_set_errhandler(failing, MPI_ERRORS_RETURN);
}

static int free_handler(void)
{
    MPI_Errhandler own = handler;
    return MPI_Errhandler_free(&own);
}

static int free_win(void)
{
    return MPI_Win_free(&failing_win);
}

static int close_file(void)
{
    return MPI_File_close(&failing_file);
}

static int end_session(void)
{
    return MPI_Session_finalize(&failing_session);
}

static void raise_one(const char *name, MPI_Errhandler made, int (*fail)(void), int (*call)(void))
{
    check_step("%s in an error handler", name);
    handled = 0;
    prepare(name, call);
    fail();
    CHECK(handled == 1 || (handled == 2 && call == fail), "%s: the handler was called %d times",
          name, handled);
    check_inner("an error handler", true);
    (void)made;
}

static void handlers(void)
{
    static const struct act acts[] = {{"MPI_Comm_free", free_comm, {true}},
                                      {"a call that fails", fail_comm, {true}},
                                      {"MPI_Comm_set_errhandler", replace_handler, {true}},
                                      {"MPI_Errhandler_free", free_handler, {true}}};
    for (size_t i = 0; i < COUNT(acts); i++) {
        MPI_Comm_create_errhandler(on_comm, &handler);
        MPI_Comm_dup(MPI_COMM_WORLD, &failing);
        MPI_Comm_set_errhandler(failing, handler);
        raise_one(acts[i].name, handler, fail_comm, acts[i].call);
        if (failing != MPI_COMM_NULL)
            MPI_Comm_free(&failing);
        if (acts[i].call != free_handler)
            MPI_Errhandler_free(&handler);
    }
    int *memory;
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &failing_win);
    MPI_Win_set_errhandler(failing_win, handler);
    raise_one("MPI_Win_free", handler, fail_win, free_win);
    MPI_Errhandler_free(&handler);

    failing_file = file_open("h", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(failing_file, handler);
    raise_one("MPI_File_close", handler, fail_file, close_file);
    MPI_Errhandler_free(&handler);

    MPI_Session_create_errhandler(on_session, &handler);
    MPI_Session_init(MPI_INFO_NULL, handler, &failing_session);
    raise_one("MPI_Session_finalize", handler, fail_session, end_session);
    MPI_Errhandler_free(&handler);
}

/* ---- Data representations: the functions are called in an access and in MPI_File_set_view */

static MPI_File file;
static MPI_Datatype record;
static int function; /* that acts: 0 extent, 1 write, 2 read */

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *extra)
{
    int size = 0;
    (void)extra;
    MPI_Type_size(type, &size);
    *bytes = size;
    if (function == 0)
        act();
    return MPI_SUCCESS;
}

static int convert(void *user, MPI_Datatype type, int count, void *memory, MPI_Offset position,
                   bool write)
{
    (void)position, (void)type;
    if (function == (write ? 1 : 2))
        act();
    memcpy(write ? memory : user, write ? user : memory, (size_t)count * sizeof(int));
    return MPI_SUCCESS;
}

static int write_out(void *user, MPI_Datatype type, int count, void *memory, MPI_Offset position,
                     void *extra)
{
    (void)extra;
    return convert(user, type, count, memory, position, true);
}

static int read_in(void *user, MPI_Datatype type, int count, void *memory, MPI_Offset position,
                   void *extra)
{
    (void)extra;
    return convert(user, type, count, memory, position, false);
}

static int close_it(void)
{
    MPI_File own = file;
    return MPI_File_close(&own);
}

static int view_it(void)
{
    return MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

static int seek_it(void)
{
    return MPI_File_seek(file, 0, MPI_SEEK_SET);
}

static int read_it(void)
{
    int now = function, data;
    function = 3;
    int code = MPI_File_read_at(file, 0, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    function = now;
    return code;
}

static int free_record(void)
{
    int code = MPI_Type_free(&record);
    for (int i = 0; i < 100; i++) {
        MPI_Datatype type;
        MPI_Type_contiguous(2 + i % 5, MPI_INT, &type);
        MPI_Type_free(&type);
    }
    MPI_Type_contiguous(2, MPI_INT, &record); /* for the caller */
    MPI_Type_commit(&record);
    return code;
}

static const struct act file_acts[] = {
    {"MPI_File_close", close_it, {false}},  {"MPI_File_set_view", view_it, {false}},
    {"MPI_File_seek", seek_it, {true}},     {"MPI_File_read_at", read_it, {true}},
    {"MPI_Type_free", free_record, {true}}, {"MPI_Finalize", end_mpi, {false}},
};

static void representations(void)
{
    int data[4] = {1, 2, 3, 4}, in[4];
    MPI_Register_datarep("callback", read_in, write_out, extent, NULL);
    for (size_t i = 0; i < COUNT(file_acts); i++)
        for (function = 0; function < 3; function++) {
            const struct act *act = &file_acts[i];
            if (function == 0 && act->call == read_it)
                continue; /* it would call the function again for its own view */
            check_step("%s in function %d of a data representation", act->name, function);
            MPI_Type_contiguous(2, MPI_INT, &record);
            MPI_Type_commit(&record);
            file = file_open("r", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
            if (function == 0)
                prepare(act->name, act->call);
            CHECK_CLASS(MPI_File_set_view(file, 16 * check.rank, MPI_INT, MPI_INT, "callback",
                                          MPI_INFO_NULL),
                        MPI_SUCCESS);
            if (function > 0)
                prepare(act->name, act->call);
            CHECK_CLASS(MPI_File_write_at(file, 0, data, 2, record, MPI_STATUS_IGNORE),
                        MPI_SUCCESS);
            CHECK_CLASS(MPI_File_read_at(file, 0, in, 2, record, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK(!memcmp(in, data, sizeof in), "%s: other data were read", act->name);
            check_inner("a function of a data representation", act->works[0]);
            MPI_File_close(&file);
            MPI_Type_free(&record);
        }
}

/* ---- Attributes of MPI_COMM_SELF that are deleted by MPI_Finalize */

static int last_calls(MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Comm copied;
    (void)comm, (void)key, (void)value, (void)extra;
    if (check_class(MPI_Finalize()) == MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_SELF, &copied) != MPI_SUCCESS)
        _exit(5);
    return MPI_Comm_free(&copied);
}

int main(int argc, char **argv)
{
    int last;
    check_begin(&argc, &argv, 1);
    check_errors_return();
    file_begin();
    attributes();
    generalized();
    operations();
    handlers();
    representations();
    file_end();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_calls, &last, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, last, NULL);
    return check_done();
}
