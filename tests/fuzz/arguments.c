// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=60
/*
 * Wrong arguments: calls every function of mpi.h, before MPI_Init, between, and after MPI_Finalize,
 * 200 times each (WEFT_TEST_TRIALS) with one or two wrong arguments among right ones. calls.h, made
 * from abi/functions.tsv, lists the functions and the kinds of their parameters.
 *
 * Invariants:
 *  - No call crashes or hangs. A call whose only wrong argument can be seen to be wrong (null where
 *    memory is needed, a handle of another kind or freed, a size beyond the address space, a rank
 * or a tag that does not exist) returns an error. A wild pointer, or a length that is longer than
 *    its array, cannot be seen and is not generated.
 *  - A trial depends on the seed (WEFT_TEST_SEED), the state, the function and its number alone.
 *
 * The program is also compiled with other MPIs' mpi.h, for their front ends (tests/frontend/run).
 *
 * Calls are made in a child process. After a crash or a hang it reports the call, and a new child
 * continues with the next function. WEFT_TEST_FUNCTION=MPI_X tests one function alone.
 */
#include "../mpi/check.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum kind {
    HANDLE,       /* a handle */
    HANDLE_AT,    /* a pointer to a handle, which the call changes */
    HANDLES,      /* an array of handles */
    PLACE,        /* a pointer to a result, which may also be read (a position, a length) */
    BUFFER,       /* data */
    TEXT,         /* a string that is read */
    ROOM,         /* one that is written */
    WORDS,        /* an array of strings */
    WORD_LISTS,   /* an array of these */
    STATUS,       /* one or several statuses, or MPI_STATUS_IGNORE */
    STATUS_GIVEN, /* a status that is read or changed */
    INTS,         /* an array of int */
    LARGE,        /* an array of MPI_Count or MPI_Aint */
    COUNT,
    LARGE_COUNT,
    LENGTH, /* of an array or of memory */
    LARGE_LENGTH,
    TAG,
    RANK,
    SOURCE,
    NUMBER,    /* any other */
    FUNCTION,  /* a callback */
    ALLOCATED, /* memory of MPI_Alloc_mem */
    ANYTHING   /* a pointer that is stored and not followed */
};

enum of {
    OF_NONE,
    OF_Comm,
    OF_Datatype,
    OF_Group,
    OF_Op,
    OF_Info,
    OF_Win,
    OF_Request,
    OF_Session,
    OF_Errhandler,
    OF_File,
    OF_Message,
    OF_T_enum,
    OF_T_cvar_handle,
    OF_T_pvar_handle,
    OF_T_pvar_session,
    OF_T_event_registration,
    OF_T_event_instance,
    KINDS
};

enum {
    PARAMETERS = 16,
    CANDIDATES = 24,
    ENTRIES = 256,
    BYTES = 1 << 14,
    SECONDS = 20,
    CRASHES = 50
};

struct parameter {
    const char *name;
    enum kind kind;
    enum of of;
};

struct function {
    const char *name;
    int (*call)(const int64_t *values);
    bool returns_code;
    int n;
    struct parameter parameters[PARAMETERS];
};

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wnonnull"
#include "calls.h"

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
enum state { BEFORE, BETWEEN, AFTER, STATES };
static const char *const state_names[] = {"before MPI_Init", "between", "after MPI_Finalize"};

/* How sure it is that a value is wrong. */
enum verdict { GOOD, MAYBE, WRONG };

struct value {
    int64_t bits;
    const char *what;
    enum verdict verdict;
};

/* What is called at the moment, for the report. */
static struct {
    const struct function *function;
    int trial;
    struct value values[PARAMETERS];
} now;

/* Where the child is, and what it has found: read by its parent. */
static struct {
    int state, function, calls, failures;
} * progress;

static uint64_t seed, random_state;
static enum state state;
static uintptr_t object[KINDS];
static bool with_address_sanitizer;
static sigjmp_buf fatal;
static volatile sig_atomic_t in_call, ended;

/* Memory of each parameter: data, and cells for handles and results in front of it. */
static struct {
    int64_t cell[ENTRIES];
    char bytes[BYTES];
} memory[PARAMETERS];
static char long_text[5000];

/* ---- Reports */

static void describe(char *text, size_t len)
{
    int at = snprintf(text, len, "%s, %s, trial %d, WEFT_TEST_SEED=%llu: %s(",
                      now.function ? now.function->name : "no call", state_names[state], now.trial,
                      (unsigned long long)seed, now.function ? now.function->name : "");
    for (int i = 0; now.function && i < now.function->n && at < (int)len; i++)
        at += snprintf(text + at, len - (size_t)at, "%s%s = %s", i ? ", " : "",
                       now.function->parameters[i].name, now.values[i].what);
    if (at < (int)len)
        snprintf(text + at, len - (size_t)at, ")");
}

static void report(const char *what)
{
    char call[1200], line[1400];
    describe(call, sizeof call);
    int n = snprintf(line, sizeof line, "%s: %s\n", what, call);
    ssize_t written = write(STDOUT_FILENO, line, (size_t)n);
    (void)written;
}

static void on_signal(int number)
{
    report(number == SIGALRM ? "HANG" : "CRASH");
    _exit(1);
}

static void on_death(void)
{
    report("SANITIZER");
}

/* Of the sanitizers, where they are linked. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

/* The library ends the process when it is called before MPI_Init or after MPI_Finalize: for this
 * program, the end of the call. It calls _Exit, or, once it has joined a job, first starts a thread
 * that limits the time of the end. */
static void end_call(void)
{
    if (!in_call) {
        report("ENDED THE PROCESS");
        abort();
    }
    ended = 1;
    siglongjmp(fatal, 1);
}

void _Exit(int status)
{
    (void)status;
    end_call();
    abort();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (in_call)
        end_call();
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, run, argument);
}

static void watch(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    with_address_sanitizer = __sanitizer_set_death_callback != NULL;
    if (with_address_sanitizer)
        __sanitizer_set_death_callback(on_death);
    for (size_t i = 0; !with_address_sanitizer && i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

/* ---- Objects */

static int nothing(void)
{
    return MPI_SUCCESS;
}

static bool is_tool(enum of of)
{
    return of >= OF_T_enum;
}

/* A new object of a kind, or 0 where none can be made. */
static uintptr_t make(enum of of)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Group group, of_world;
    MPI_Op op;
    MPI_Info info;
    MPI_Win win;
    MPI_Request request;
    MPI_File file;
    MPI_Errhandler errhandler;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_session pvars;
    int n;
    switch (of) {
    case OF_Comm:
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        return (uintptr_t)comm;
    case OF_Datatype:
        MPI_Type_vector(2, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        return (uintptr_t)type;
    case OF_Group:
        MPI_Comm_group(MPI_COMM_WORLD, &of_world);
        MPI_Group_incl(of_world, 1, &(int){0}, &group); /* of its own: no other handle keeps it */
        MPI_Group_free(&of_world);
        return (uintptr_t)group;
    case OF_Op:
        MPI_Op_create((MPI_User_function *)(uintptr_t)nothing, 1, &op);
        return (uintptr_t)op;
    case OF_Info:
        MPI_Info_create(&info);
        MPI_Info_set(info, "weft", "1");
        return (uintptr_t)info;
    case OF_Win:
        MPI_Win_create(memory[0].bytes, BYTES, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        return (uintptr_t)win;
    case OF_Request:
        MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
        return (uintptr_t)request;
#if MPI_VERSION >= 4
    case OF_Session: {
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        return (uintptr_t)session;
    }
#endif
    case OF_Errhandler:
        MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(uintptr_t)nothing, &errhandler);
        return (uintptr_t)errhandler;
    case OF_File: /* takes any write */
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        return (uintptr_t)file;
    case OF_T_cvar_handle:
        MPI_T_cvar_handle_alloc(0, NULL, &cvar, &n);
        return (uintptr_t)cvar;
    case OF_T_pvar_session:
        MPI_T_pvar_session_create(&pvars);
        return (uintptr_t)pvars;
    default:
        return 0;
    }
}

/* Frees what a call has made, as far as it can be freed at any time. */
static void unmake(enum of of, void *at)
{
    switch (of) {
    case OF_Comm:
        if (*(MPI_Comm *)at != MPI_COMM_NULL)
            MPI_Comm_free(at);
        return;
    case OF_Datatype:
        MPI_Type_free(at);
        return;
    case OF_Group:
        MPI_Group_free(at);
        return;
    case OF_Op:
        MPI_Op_free(at);
        return;
    case OF_Info:
        MPI_Info_free(at);
        return;
    case OF_Win:
        MPI_Win_free(at);
        return;
    case OF_Request:
        MPI_Request_free(at);
        return;
#if MPI_VERSION >= 4
    case OF_Session:
        MPI_Session_finalize(at);
        return;
#endif
    case OF_Errhandler:
        MPI_Errhandler_free(at);
        return;
    case OF_File:
        MPI_File_close(at);
        return;
    default:
        return;
    }
}

/* The bytes of a handle: other MPIs have ints (src/frontend). */
static size_t size_of(enum of of)
{
    return of == OF_File ? sizeof(MPI_File) : is_tool(of) ? sizeof(void *) : sizeof(MPI_Comm);
}

static int64_t freed(enum of of)
{
    uintptr_t made = make(of), handle = made;
    if (handle)
        unmake(of, &handle);
    return (int64_t)made;
}

/* ---- The values of a parameter */

struct list {
    struct value values[CANDIDATES];
    int n;
};

static void add(struct list *list, enum verdict verdict, int64_t bits, const char *what)
{
    list->values[list->n++] = (struct value){bits, what, verdict};
}

static int64_t address(const void *at)
{
    return (int64_t)(uintptr_t)at;
}

#define ADD(list, verdict, value)        add(list, verdict, (int64_t)(value), #value)
#define ADD_HANDLE(list, verdict, value) add(list, verdict, (int64_t)(uintptr_t)(value), #value)

static void predefined_handles(struct list *list, enum of of)
{
    switch (of) {
    case OF_Comm:
        ADD_HANDLE(list, MAYBE, MPI_COMM_NULL);
        if (now.function && strcmp(now.function->name, "MPIX_Comm_revoke") == 0)
            break; /* objects are made of these */
        ADD_HANDLE(list, GOOD, MPI_COMM_WORLD);
        ADD_HANDLE(list, GOOD, MPI_COMM_SELF);
        break;
    case OF_Datatype:
        ADD_HANDLE(list, GOOD, MPI_INT);
        ADD_HANDLE(list, GOOD, MPI_DOUBLE_INT);
        ADD_HANDLE(list, MAYBE, MPI_DATATYPE_NULL);
        break;
    case OF_Group:
        ADD_HANDLE(list, GOOD, MPI_GROUP_EMPTY);
        ADD_HANDLE(list, MAYBE, MPI_GROUP_NULL);
        break;
    case OF_Op:
        ADD_HANDLE(list, GOOD, MPI_SUM);
        ADD_HANDLE(list, GOOD, MPI_REPLACE);
        ADD_HANDLE(list, MAYBE, MPI_OP_NULL);
        break;
    case OF_Info:
        ADD_HANDLE(list, GOOD, MPI_INFO_NULL);
        ADD_HANDLE(list, GOOD, MPI_INFO_ENV);
        break;
    case OF_Request:
        ADD_HANDLE(list, GOOD, MPI_REQUEST_NULL);
        break;
#if MPI_VERSION >= 4
    case OF_Session:
        ADD_HANDLE(list, MAYBE, MPI_SESSION_NULL);
        break;
#endif
    case OF_Errhandler:
        ADD_HANDLE(list, GOOD, MPI_ERRORS_RETURN);
        ADD_HANDLE(list, MAYBE, MPI_ERRHANDLER_NULL);
        break;
    case OF_File:
        ADD_HANDLE(list, MAYBE, MPI_FILE_NULL);
        break;
    case OF_Message:
        ADD_HANDLE(list, GOOD, MPI_MESSAGE_NO_PROC);
        ADD_HANDLE(list, MAYBE, MPI_MESSAGE_NULL);
        break;
    case OF_Win:
        ADD_HANDLE(list, MAYBE, MPI_WIN_NULL);
        break;
    default:
        break;
    }
}

static void wrong_handles(struct list *list, enum of of)
{
    add(list, MPI_FILE_NULL == 0 && of == OF_File ? MAYBE : WRONG, 0, "the handle 0");
    if (is_tool(of))
        return;
    add(list, WRONG, 0x1ff, "a handle that is not in use");
    if (size_of(of) != sizeof(MPI_Comm))
        return; /* a handle of another kind is a wild pointer */
    if (sizeof(MPI_Comm) == sizeof(int)) {
        ADD(list, WRONG, 0xfff);
        ADD(list, WRONG, 0x12345678);
        ADD(list, WRONG, 0x40ffffff); /* among the numbers of requests */
    }
    if (of == OF_Comm)
        ADD_HANDLE(list, WRONG, MPI_INT);
    else
        ADD_HANDLE(list, WRONG, MPI_COMM_WORLD);
    if (state != BETWEEN)
        return;
    if (of != OF_Info)
        add(list, WRONG, (int64_t)object[OF_Info], "an info object");
    if (of != OF_Datatype)
        add(list, WRONG, (int64_t)object[OF_Datatype], "a datatype");
    if (of != OF_Message && (!with_address_sanitizer || of == OF_Request))
        add(list, WRONG, -1, "a freed object"); /* it is made when it is chosen */
}

/* fresh: the call frees the object, changes it, or waits for what others did with it. */
static void handle_values(struct list *list, enum of of, bool fresh)
{
    predefined_handles(list, of);
    if (fresh)
        for (int i = 0; i < list->n; i++)
            if (list->values[i].verdict == GOOD)
                list->values[i].verdict = MAYBE;
    if (state == BETWEEN && object[of])
        add(list, GOOD, fresh ? -2 : (int64_t)object[of], "an object"); /* -2: a new one */
    wrong_handles(list, of);
}

static void fill(void *to, int entries, int64_t value, bool large)
{
    for (int i = 0; i < entries; i++)
        if (large)
            ((int64_t *)to)[i] = value;
        else
            ((int *)to)[i] = (int)value;
}

/* An array of a parameter is filled when it is chosen, with this value. */
static void array_values(struct list *list, const char *function, const char *name, bool large)
{
    bool far = strstr(name, "disp") && strncmp(function, "MPI_Type_", 9) != 0;
    add(list, GOOD, 0, "zeros");
    add(list, GOOD, 1, "ones");
    add(list, MAYBE, -1, "an array of -1");
    if (!far)
        add(list, MAYBE, INT_MIN, "an array of INT_MIN");
    if (!far && large)
        add(list, MAYBE, (int64_t)1 << 62, "an array of 2^62");
    add(list, MAYBE, INT64_MAX, "NULL");
}

static void number_values(struct list *list, enum kind kind, bool receives)
{
    bool large = kind == LARGE_COUNT || kind == LARGE_LENGTH;
    bool counts = kind == COUNT || kind == LARGE_COUNT;
    enum verdict negative = counts ? WRONG : MAYBE;
    switch (kind) {
    case TAG:
        add(list, GOOD, 3, "3");
        add(list, WRONG, -12345, "-12345");
        ADD(list, WRONG, INT_MIN);
        return;
    case RANK:
        add(list, GOOD, receives ? MPI_PROC_NULL : 0, receives ? "MPI_PROC_NULL" : "0");
        add(list, WRONG, 1, "1");
        add(list, WRONG, -12345, "-12345");
        ADD(list, WRONG, INT_MAX);
        return;
    case SOURCE:
        ADD(list, GOOD, MPI_PROC_NULL);
        add(list, WRONG, 1, "1");
        add(list, WRONG, -12345, "-12345");
        ADD(list, WRONG, INT_MAX);
        return;
    default:
        break;
    }
    add(list, GOOD, 1, "1");
    add(list, GOOD, 2, "2");
    add(list, counts ? GOOD : MAYBE, 0, "0");
    add(list, negative, -1, "-1");
    add(list, negative, large ? INT64_MIN : INT_MIN, large ? "INT64_MIN" : "INT_MIN");
    if (large) {
        add(list, counts ? WRONG : MAYBE, (int64_t)1 << 62, "2^62");
        add(list, counts ? WRONG : MAYBE, INT64_MAX, "INT64_MAX");
    }
    if (kind != NUMBER)
        return;
    ADD(list, MAYBE, INT_MAX);
    ADD(list, MAYBE, MPI_TAG_UB);
    add(list, MAYBE, 77, "77");
    add(list, MAYBE, (int64_t)1 << 62, "2^62");
}

static void pointer_values(struct list *list, int i, enum kind kind, const char *function,
                           bool takes_in_place)
{
    bool tool = strncmp(function, "MPI_T_", 6) == 0;
    enum verdict null =
        kind == STATUS || kind == ANYTHING || kind == ALLOCATED                             ? GOOD
        : kind == BUFFER || kind == FUNCTION || kind == WORDS || kind == WORD_LISTS || tool ? MAYBE
                                                                                            : WRONG;
    static char *words[] = {"a", "b", "c", "d", NULL};
    static char **lists[] = {words, words, words, words, NULL};
    add(list, null, 0, "NULL");
    switch (kind) {
    case PLACE:
        add(list, GOOD, address(memory[i].cell), "a place");
        memory[i].cell[6] = 4;
        add(list, GOOD, address(memory[i].cell + 6), "a place that holds 4");
        memory[i].cell[2] = -1;
        memory[i].cell[4] = (int64_t)1 << 40;
        add(list, MAYBE, address(memory[i].cell + 2), "a place that holds -1");
        add(list, MAYBE, address(memory[i].cell + 4), "a place that holds 2^40");
        return;
    case BUFFER:
        add(list, GOOD, address(memory[i].bytes), "a buffer");
        add(list, MAYBE, address(memory[0].bytes), "the first buffer");
        if (takes_in_place)
            add(list, MAYBE, address(MPI_IN_PLACE), "MPI_IN_PLACE");
        return;
    case TEXT:
        add(list, GOOD, address("external32"), "\"external32\"");
        add(list, GOOD, address("weft"), "\"weft\"");
        add(list, MAYBE, address(""), "\"\"");
        add(list, MAYBE, address(long_text), "5000 characters");
        return;
    case WORDS:
        add(list, GOOD, address(words), "words");
        return;
    case WORD_LISTS:
        add(list, GOOD, address(lists), "lists of words");
        return;
    case FUNCTION:
        add(list, GOOD, address((void *)(uintptr_t)nothing), "a function");
        return;
    case ALLOCATED:
        add(list, WRONG, address(memory[i].bytes), "memory that was not allocated");
        return;
    default: /* also the address of a handle, for an object of MPI_T: that of no object is zero */
        add(list, GOOD, address(memory[i].cell), "memory");
    }
}

static void list_values(struct list *list, const struct function *function, int i)
{
    const struct parameter *p = &function->parameters[i];
    list->n = 0;
    switch (p->kind) {
    case HANDLE:
    case HANDLES:
        handle_values(list, p->of, strcmp(function->name, "MPI_Win_wait") == 0);
        return;
    case HANDLE_AT:
        handle_values(list, p->of, true);
        add(list, WRONG, INT64_MAX, "NULL");
        return;
    case INTS:
    case LARGE:
        array_values(list, function->name, p->name, p->kind == LARGE);
        return;
    case COUNT:
    case LARGE_COUNT:
    case LENGTH:
    case LARGE_LENGTH:
    case TAG:
    case RANK:
    case SOURCE:
    case NUMBER:
        number_values(list, p->kind, strcmp(p->name, "dest") == 0);
        return;
    default:
        /* For other buffers it is a wild pointer. */
        pointer_values(list, i, p->kind, function->name,
                       strcmp(p->name, "sendbuf") == 0 || strcmp(p->name, "recvbuf") == 0);
    }
}

/* The argument for a value: handles and arrays are put into the memory of the parameter. */
static int64_t argument(const struct parameter *p, int i, const struct value *value)
{
    int64_t bits = value->bits;
    bool null = bits == INT64_MAX && (p->kind == INTS || p->kind == LARGE || p->kind == HANDLE_AT);
    if (null)
        return 0;
    if (p->kind == HANDLE || p->kind == HANDLE_AT || p->kind == HANDLES) {
        if (bits == -1)
            bits = freed(p->of);
        if (bits == -2)
            bits = (int64_t)make(p->of);
    }
    if (p->kind == HANDLE_AT) {
        memory[i].cell[0] = bits;
        return address(memory[i].cell);
    }
    if (p->kind == HANDLES) {
        fill(memory[i].cell, ENTRIES, bits, size_of(p->of) == sizeof(int64_t));
        return address(memory[i].cell);
    }
    if (p->kind == INTS || p->kind == LARGE) {
        fill(memory[i].cell, ENTRIES, bits, p->kind == LARGE);
        return address(memory[i].cell);
    }
    return bits;
}

/* ---- Trials */

/* Functions that are not called in some state, as they end or begin it. */
static bool is_left_out(const char *name)
{
    static const struct {
        const char *name;
        enum state only;
    } rows[] = {{"MPI_Abort", STATES},
                {"MPI_Init", BETWEEN},
                {"MPI_Init_thread", BETWEEN},
                {"MPI_Session_init", BETWEEN},
                {"MPI_Finalize", AFTER}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].only != state;
    return false;
}

/* True if a value that looks wrong is allowed: an array without entries, memory for a string
 * without characters, any source and tag of a status; the request of a nonblocking collective
 * access to a file returns the error. */
static bool may_accept(const struct function *function, int wrong)
{
    enum kind kind = function->parameters[wrong].kind;
    for (int i = 0; i < function->n; i++) {
        const struct parameter *p = &function->parameters[i];
        int64_t bits = now.values[i].bits;
        bool none = (p->kind == COUNT || p->kind == LARGE_COUNT || p->kind == LENGTH) && bits == 0;
        if (none && kind == HANDLES)
            return true;
        if (kind == ROOM && p->kind == PLACE && bits && *(int *)(uintptr_t)bits == 0)
            return true;
    }
    bool later = strncmp(function->name, "MPI_File_i", 10) == 0 && strstr(function->name, "_all");
    return later || strncmp(function->name, "MPI_Status_set_", 15) == 0;
}

static void clean(const struct function *function)
{
    for (int i = 0; i < function->n; i++) {
        const struct parameter *p = &function->parameters[i];
        if (p->kind == PLACE && p->of != OF_NONE && now.values[i].bits && memory[i].cell[0])
            unmake(p->of, memory[i].cell);
    }
}

static void check_code(int code, bool refuses)
{
    if (refuses && !ended && code == MPI_SUCCESS) {
        report("ACCEPTED");
        progress->failures++;
    }
    if (ended && state == BETWEEN) {
        report("ENDED THE PROCESS");
        progress->failures++;
    }
}

static void call(const struct function *function, int wrong, int bad)
{
    int64_t arguments[PARAMETERS] = {0};
    volatile bool refuses =
        bad == 1 && now.values[wrong].verdict == WRONG && function->returns_code;
    volatile int code = MPI_ERR_OTHER;
    for (int i = 0; i < function->n; i++)
        arguments[i] = argument(&function->parameters[i], i, &now.values[i]);
    if (strcmp(function->name, "MPI_T_finalize") == 0)
        MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0});
    refuses = refuses && !may_accept(function, wrong);
    ended = 0;
    in_call = 1;
    if (sigsetjmp(fatal, 0) == 0)
        code = function->call(arguments);
    in_call = 0;
    progress->calls++;
    check_code(code, refuses);
    if (code == MPI_SUCCESS && state == BETWEEN)
        clean(function);
}

/* Chooses values: those of the first trials are wrong one by one, those of others at random. */
static void trial(const struct function *function, int number)
{
    struct list lists[PARAMETERS];
    int singles = 0, wrong = 0, bad = 0;
    now.function = function;
    now.trial = number;
    random_state = check_mix(seed + (uint64_t)(function - functions) * 1000003u +
                             (uint64_t)number * 31u + (uint64_t)state);
    for (int i = 0; i < function->n; i++) {
        memset(memory[i].cell, 0, sizeof memory[i].cell[0] * 8);
        list_values(&lists[i], function, i);
        int first = (int)check_random(&random_state, (unsigned)lists[i].n);
        now.values[i] = lists[i].values[first];
        for (int j = 0; j < lists[i].n; j++) {
            const struct value *v = &lists[i].values[(first + j) % lists[i].n];
            if (v->verdict == GOOD) {
                now.values[i] = *v;
                break;
            }
        }
        for (int j = 0; j < lists[i].n; j++)
            singles += lists[i].values[j].verdict != GOOD;
    }
    int chosen = number < singles ? number : -1, pairs = chosen < 0 && function->n ? 2 : 0;
    for (int i = 0, at = 0; i < function->n && chosen >= 0; i++)
        for (int j = 0; j < lists[i].n; j++)
            if (lists[i].values[j].verdict != GOOD && at++ == chosen)
                now.values[wrong = i] = lists[i].values[j];
    for (int n = 0; n < pairs; n++) {
        int i = (int)check_random(&random_state, (unsigned)function->n);
        now.values[i] = lists[i].values[check_random(&random_state, (unsigned)lists[i].n)];
    }
    for (int i = 0; i < function->n; i++)
        if (now.values[i].verdict != GOOD) {
            bad++;
            wrong = i;
        }
    call(function, wrong, bad);
}

static void trials(const struct function *function, int number)
{
    alarm(SECONDS);
    for (int i = 0; i < number; i++)
        trial(function, i);
    alarm(0);
    now.function = NULL;
}

static void open_state(void)
{
    static FILE *standard, *nowhere;
    if (!nowhere) {
        standard = stderr;
        nowhere = fopen("/dev/null", "w");
    }
    stderr =
        state == BETWEEN ? standard : nowhere; /* every call at the wrong time has a sentence */
    if (state == BETWEEN) {
        MPI_Init(NULL, NULL);
        check_errors_return();
        MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0});
        for (int of = 0; of < KINDS; of++)
            object[of] = make((enum of)of);
        watch(); /* libraries that libfabric loads may have set handlers */
    }
    if (state == AFTER) {
        unmake(OF_Session, &object[OF_Session]); /* MPI goes on with a session */
        MPI_Finalize();
        memset(object, 0, sizeof object);
    }
}

static void child(int first_state, int first_function)
{
    int number = check_setting("WEFT_TEST_TRIALS", 200);
    const char *alone = getenv("WEFT_TEST_FUNCTION");
    watch();
    for (state = BEFORE; state < STATES; state++) {
        open_state();
        for (int i = 0; i < FUNCTIONS; i++) {
            bool done =
                (int)state < first_state || ((int)state == first_state && i < first_function);
            if (done || is_left_out(functions[i].name) ||
                (alone && strcmp(alone, functions[i].name) != 0))
                continue;
            progress->state = state;
            progress->function = i;
            trials(&functions[i], number);
        }
    }
    fflush(NULL);
    _exit(0); /* what the calls made is not freed */
}

int main(void)
{
    static const char *const of_launcher[] = {"PMIX_RANK", "PMIX_NAMESPACE", "PMIX_SERVER_URI41"};
    int crashes = 0, status = 0;
    seed = (uint64_t)check_setting("WEFT_TEST_SEED", 1);
    memset(long_text, 'x', sizeof long_text - 1);
    for (size_t i = 0; i < sizeof of_launcher / sizeof of_launcher[0]; i++)
        unsetenv(of_launcher[i]);
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return 2;
    progress->function = -1;
    do {
        int first = progress->function + 1;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            child(progress->state, first);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return 2;
        if (status != 0)
            printf("the child of function %d, state %d, ended with status 0x%x\n",
                   progress->function, progress->state, (unsigned)status);
        crashes += status != 0;
    } while (status != 0 && crashes < CRASHES);
    printf("%d calls of %d functions, %d crashes or hangs, %d wrong arguments accepted\n",
           progress->calls, (int)FUNCTIONS, crashes, progress->failures);
    return crashes || progress->failures;
}
