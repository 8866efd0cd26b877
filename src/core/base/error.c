// SPDX-License-Identifier: BSD-3-Clause
/*
 * Error classes, recorded sentences and handlers: see error.h.
 *
 * Invariant: last_sentence and secondary describe an error of last_class; they change together,
 * under `lock`, because a thread that records an error may hold one VCI only. The last sentence of
 * a death is kept when another error follows, because operations that need the dead rank return its
 * class long after.
 */
#include "core/base/error.h"
#include "core/base/error_code.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SENTENCE = 768 /* bytes */, SECONDARY_DELAY = 200000000 /* ns */ };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int last_class;
static bool secondary;
static char last_sentence[SENTENCE], death_sentence[SENTENCE];

struct weft_errhandler weft_errors_are_fatal = {
    .object = {WEFT_KIND_ERRHANDLER, 0}, .refs = 1, .handle = MPI_ERRORS_ARE_FATAL};
static struct weft_errhandler weft_errors_abort = {
    .object = {WEFT_KIND_ERRHANDLER, 0}, .refs = 1, .handle = MPI_ERRORS_ABORT};
struct weft_errhandler weft_errors_return = {
    .object = {WEFT_KIND_ERRHANDLER, 0}, .refs = 1, .handle = MPI_ERRORS_RETURN};

const struct weft_errhandler_initial weft_errhandlers_initial[WEFT_ERRHANDLERS_INITIAL] = {
    {"mpi_errors_are_fatal", &weft_errors_are_fatal},
    {"mpi_errors_abort", &weft_errors_abort},
    {"mpi_errors_return", &weft_errors_return}};

static const char *const class_text[] = {
    [MPI_SUCCESS] = "no error",
    [MPI_ERR_BUFFER] = "invalid buffer",
    [MPI_ERR_COUNT] = "invalid count",
    [MPI_ERR_TYPE] = "invalid datatype",
    [MPI_ERR_TAG] = "invalid tag",
    [MPI_ERR_COMM] = "invalid communicator",
    [MPI_ERR_RANK] = "invalid rank",
    [MPI_ERR_REQUEST] = "invalid request",
    [MPI_ERR_ROOT] = "invalid root",
    [MPI_ERR_GROUP] = "invalid group",
    [MPI_ERR_OP] = "invalid reduction operation",
    [MPI_ERR_TOPOLOGY] = "invalid topology",
    [MPI_ERR_DIMS] = "invalid dimension",
    [MPI_ERR_ARG] = "invalid argument",
    [MPI_ERR_UNKNOWN] = "unknown error",
    [MPI_ERR_TRUNCATE] = "message truncated: the receive buffer is too small",
    [MPI_ERR_OTHER] = "an error that has no class of its own",
    [MPI_ERR_INTERN] = "internal error of the MPI library",
    [MPI_ERR_PENDING] = "the operation has neither failed nor completed",
    [MPI_ERR_IN_STATUS] = "the error codes are in the statuses",
    [MPI_ERR_ACCESS] = "permission denied",
    [MPI_ERR_AMODE] = "invalid access mode",
    [MPI_ERR_ASSERT] = "invalid assertion",
    [MPI_ERR_BAD_FILE] = "invalid file name",
    [MPI_ERR_BASE] = "invalid base address",
    [MPI_ERR_CONVERSION] = "error in a data conversion function",
    [MPI_ERR_DISP] = "invalid displacement",
    [MPI_ERR_DUP_DATAREP] = "the data representation exists already",
    [MPI_ERR_FILE_EXISTS] = "the file exists",
    [MPI_ERR_FILE_IN_USE] = "the file is in use",
    [MPI_ERR_FILE] = "invalid file handle",
    [MPI_ERR_INFO_KEY] = "info key too long or empty",
    [MPI_ERR_INFO_NOKEY] = "no such info key",
    [MPI_ERR_INFO_VALUE] = "info value too long or invalid",
    [MPI_ERR_INFO] = "invalid info object",
    [MPI_ERR_IO] = "input/output error",
    [MPI_ERR_KEYVAL] = "invalid attribute key",
    [MPI_ERR_LOCKTYPE] = "invalid lock type",
    [MPI_ERR_NAME] = "the service name is not published",
    [MPI_ERR_NO_MEM] = "out of memory",
    [MPI_ERR_NOT_SAME] = "the argument differs between processes",
    [MPI_ERR_NO_SPACE] = "not enough space",
    [MPI_ERR_NO_SUCH_FILE] = "no such file",
    [MPI_ERR_PORT] = "invalid port name",
    [MPI_ERR_QUOTA] = "quota exceeded",
    [MPI_ERR_READ_ONLY] = "read-only file or file system",
    [MPI_ERR_RMA_ATTACH] = "memory cannot be attached",
    [MPI_ERR_RMA_CONFLICT] = "conflicting accesses to a window",
    [MPI_ERR_RMA_RANGE] = "target memory is not part of the window",
    [MPI_ERR_RMA_SHARED] = "memory cannot be shared",
    [MPI_ERR_RMA_SYNC] = "wrong synchronization of RMA calls",
    [MPI_ERR_SERVICE] = "invalid service name",
    [MPI_ERR_SIZE] = "invalid size",
    [MPI_ERR_SPAWN] = "error in spawning processes",
    [MPI_ERR_UNSUPPORTED_DATAREP] = "unsupported data representation",
    [MPI_ERR_UNSUPPORTED_OPERATION] = "operation not supported",
    [MPI_ERR_WIN] = "invalid window",
    [MPI_ERR_RMA_FLAVOR] = "wrong window flavor",
    [MPI_ERR_PROC_ABORTED] = "a peer process has aborted",
    [MPI_ERR_VALUE_TOO_LARGE] = "the value does not fit into the variable",
    [MPI_ERR_SESSION] = "invalid session",
    [MPI_ERR_ERRHANDLER] = "invalid error handler",
    [MPI_ERR_ABI] = "ABI error",
    [MPIX_ERR_PROC_FAILED] = "a process that the operation needs is dead",
    [MPIX_ERR_PROC_FAILED_PENDING] =
        "a process that may have sent the message is dead; the receive goes on",
    [MPIX_ERR_REVOKED] = "the communicator, window or file is revoked",
};

struct weft_error_hooks weft_error_hooks;

__attribute__((constructor)) static void predefine(void)
{
    weft_handle_predefine((uintptr_t)MPI_ERRORS_ARE_FATAL, &weft_errors_are_fatal.object);
    weft_handle_predefine((uintptr_t)MPI_ERRORS_ABORT, &weft_errors_abort.object);
    weft_handle_predefine((uintptr_t)MPI_ERRORS_RETURN, &weft_errors_return.object);
}

__attribute__((format(printf, 3, 0))) WEFT_COLD static int record(bool is_secondary, int errclass,
                                                                  const char *format, va_list args)
{
    pthread_mutex_lock(&lock);
    vsnprintf(last_sentence, sizeof last_sentence, format, args);
    last_class = errclass;
    secondary = is_secondary;
    if (errclass == MPIX_ERR_PROC_FAILED)
        memcpy(death_sentence, last_sentence, sizeof death_sentence);
    pthread_mutex_unlock(&lock);
    return errclass;
}

/* The sentence of an error class, or an empty one; under `lock`. */
static const char *sentence_of(int errclass)
{
    return errclass == last_class             ? last_sentence
           : errclass == MPIX_ERR_PROC_FAILED ? death_sentence
                                              : "";
}

int weft_error_setv(int errclass, const char *format, va_list args)
{
    return record(false, errclass, format, args);
}

int weft_error_set(int errclass, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    weft_error_setv(errclass, format, args);
    va_end(args);
    return errclass;
}

int weft_error_set_secondary(int errclass, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(true, errclass, format, args);
    va_end(args);
    return errclass;
}

/* The text of an error class of MPI_T, or NULL. */
static const char *text_of_tool(int code)
{
    enum { FIRST = MPI_T_ERR_CANNOT_INIT };
    static const char *const texts[] = {
        [MPI_T_ERR_CANNOT_INIT - FIRST] = "MPI_T: it cannot be initialized now",
        [MPI_T_ERR_NOT_ACCESSIBLE - FIRST] = "MPI_T: not accessible now",
        [MPI_T_ERR_NOT_INITIALIZED - FIRST] = "MPI_T: not initialized; call MPI_T_init_thread",
        [MPI_T_ERR_NOT_SUPPORTED - FIRST] = "MPI_T: not supported",
        [MPI_T_ERR_MEMORY - FIRST] = "MPI_T: out of memory",
        [MPI_T_ERR_INVALID - FIRST] = "MPI_T: invalid argument",
        [MPI_T_ERR_INVALID_INDEX - FIRST] = "MPI_T: there is nothing of this index",
        [MPI_T_ERR_INVALID_ITEM - FIRST] = "MPI_T: the enumeration has no such item",
        [MPI_T_ERR_INVALID_SESSION - FIRST] = "MPI_T: no session, or one that was freed",
        [MPI_T_ERR_INVALID_HANDLE - FIRST] = "MPI_T: no handle, or one that was freed",
        [MPI_T_ERR_INVALID_NAME - FIRST] = "MPI_T: there is nothing of this name",
        [MPI_T_ERR_OUT_OF_HANDLES - FIRST] = "MPI_T: no more handles",
        [MPI_T_ERR_OUT_OF_SESSIONS - FIRST] = "MPI_T: no more sessions",
        [MPI_T_ERR_CVAR_SET_NOT_NOW - FIRST] = "MPI_T: the variable cannot be set now",
        [MPI_T_ERR_CVAR_SET_NEVER - FIRST] = "MPI_T: the variable cannot be set",
        [MPI_T_ERR_PVAR_NO_WRITE - FIRST] = "MPI_T: the variable cannot be written or reset",
        [MPI_T_ERR_PVAR_NO_STARTSTOP - FIRST] =
            "MPI_T: the variable is continuous, it cannot be started or stopped",
        [MPI_T_ERR_PVAR_NO_ATOMIC - FIRST] = "MPI_T: the variable cannot be read and reset at once",
    };
    unsigned i = (unsigned)code - FIRST;
    return i < sizeof texts / sizeof texts[0] ? texts[i] : NULL;
}

/* The text of another predefined class, or NULL. */
static const char *text_of_class(int code)
{
    size_t n = sizeof class_text / sizeof class_text[0];
    return code >= 0 && (size_t)code < n ? class_text[code] : NULL;
}

/* The text of any code, or NULL. May be empty for a code that the program has added. */
static const char *known_text(int code)
{
    const char *text = weft_error_code_text(code);
    if (!text)
        text = text_of_tool(code);
    return text ? text : text_of_class(code);
}

static const char *text_of(int errclass)
{
    const char *text = known_text(errclass);
    if (!text)
        return "unknown error class";
    return *text ? text : "an error of the program's own";
}

/* Ends the job for an error: prints its sentence, if one is recorded, and the text of its class. */
WEFT_COLD static _Noreturn void end_job(int errclass, const char *function)
{
    char sentence[SENTENCE] = "";
    pthread_mutex_lock(&lock);
    bool delayed = last_class == errclass && secondary;
    snprintf(sentence, sizeof sentence, "%s", sentence_of(errclass));
    pthread_mutex_unlock(&lock);
    if (delayed) /* the rank with the cause ends this process first */
        nanosleep(&(struct timespec){.tv_nsec = SECONDARY_DELAY}, NULL);
    if (sentence[0])
        weft_fatal(errclass, "%s: %s (%s)", function, sentence, text_of(errclass));
    weft_fatal(errclass ? errclass : 1, "%s: %s", function, text_of(errclass));
}

void weft_error_end_job(int errclass, const struct weft_request *on)
{
    char buf[64];
    end_job(errclass,
            weft_error_hooks.function ? weft_error_hooks.function(on, buf, sizeof buf) : "MPI");
}

/* False: it is a predefined handler, which ends the job. A front end's function may change the code
 * that MPI's function returns. */
static bool call_handler(const struct weft_errhandler *handler, void *handle, int *returned)
{
    int code = *returned;
    MPI_Comm comm = handle;
    MPI_Session session = handle;
    MPI_Win win = handle;
    MPI_File file = handle;
    int passed = code; /* the handler may change it */
    if (handler->caller) {
        *returned = handler->caller(handler->call, handle, code);
        return true;
    }
    switch (handler->kind) {
    case WEFT_KIND_COMM:
        handler->call.comm(&comm, &passed);
        return true;
    case WEFT_KIND_SESSION:
        handler->call.session(&session, &passed);
        return true;
    case WEFT_KIND_WIN:
        handler->call.win(&win, &passed);
        return true;
    case WEFT_KIND_FILE:
        handler->call.file(&file, &passed);
        return true;
    default:
        return false;
    }
}

int weft_errhandler_raise_cause(const struct weft_errhandler *handler, void *handle, int code,
                                int cause, const char *function)
{
    if (handler == &weft_errors_return)
        return code;
    const struct weft_errhandler called = *handler; /* its function may free it, or longjmp */
    unsigned held = weft_error_hooks.release ? weft_error_hooks.release() : 0; /* it may call MPI */
    if (!call_handler(&called, handle, &code))
        end_job(cause, function);
    if (held)
        weft_error_hooks.retake(held);
    return code;
}

int weft_errhandler_raise(const struct weft_errhandler *handler, void *handle, int code,
                          const char *function)
{
    return weft_errhandler_raise_cause(handler, handle, code, code, function);
}

bool weft_error_text(int code, char *text, size_t len)
{
    const char *known = known_text(code);
    if (!known)
        return false;
    pthread_mutex_lock(&lock);
    const char *sentence = sentence_of(code);
    if (code != MPI_SUCCESS && sentence[0] && text_of_class(code))
        snprintf(text, len, "%s: %s", known, sentence);
    else
        snprintf(text, len, "%s", known);
    pthread_mutex_unlock(&lock);
    return true;
}

struct weft_errhandler *weft_errhandler_make(enum weft_kind kind, union weft_errhandler_call call)
{
    struct weft_errhandler *handler = calloc(1, sizeof *handler);
    if (!handler) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for an error handler");
        return NULL;
    }
    handler->object.kind = WEFT_KIND_ERRHANDLER;
    handler->refs = 1;
    handler->kind = kind;
    handler->call = call;
    handler->handle = (MPI_Errhandler)handler;
    return handler;
}

bool weft_errhandler_fits(const struct weft_errhandler *handler, enum weft_kind kind)
{
    return handler->kind == WEFT_KIND_NONE || handler->kind == kind;
}

void weft_errhandler_release(struct weft_errhandler *handler)
{
    weft_assert(handler->kind == WEFT_KIND_NONE ||
                __atomic_load_n(&handler->refs, __ATOMIC_RELAXED) > 0);
    if (__atomic_sub_fetch(&handler->refs, 1, __ATOMIC_ACQ_REL) > 0 ||
        handler->kind == WEFT_KIND_NONE)
        return;
    weft_handle_retire(&handler->object);
    free(handler);
}

__attribute__((format(printf, 1, 0))) static void print_line(const char *format, va_list args)
{
    char sentence[SENTENCE];
    vsnprintf(sentence, sizeof sentence, format, args);
    /* One write, so that the lines of several ranks are not interleaved. */
    char line[SENTENCE + 512];
    int rank;
    const char *host;
    int n = weft_error_hooks.identify && weft_error_hooks.identify(&rank, &host)
                ? snprintf(line, sizeof line, "weft: rank %d on %s: %s\n", rank, host, sentence)
                : snprintf(line, sizeof line, "weft: %s\n", sentence);
    if (n > 0)
        fwrite(line, 1, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, stderr);
    fflush(stderr);
}

void weft_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

void weft_fatal(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    int rank;
    const char *host;
    if (weft_error_hooks.identify && weft_error_hooks.identify(&rank, &host))
        weft_error_hooks.end_job(code);
    fflush(NULL);
    _Exit(code);
}
