// SPDX-License-Identifier: BSD-3-Clause
/*
 * Errors: recording them, raising them, and error handlers.
 *
 * Invariants:
 *  - The function that detects an error records its class and one sentence (weft_error_set). The
 *    entry point that returns to the user calls the error handler (weft_error_raise), once.
 *  - An error code is its class. MPI_Error_string appends the last sentence that this process
 *    recorded for the class.
 */
#ifndef WEFT_ERROR_H
#define WEFT_ERROR_H

#include "core/base/handle.h"
#include "mpi.h"

#include <stdarg.h>
#include <stdbool.h>

/* A user's error handler function; weft_errhandler.kind selects the member. */
union weft_errhandler_call {
    MPI_Comm_errhandler_function *comm;
    MPI_Session_errhandler_function *session;
    MPI_Win_errhandler_function *win;
    MPI_File_errhandler_function *file;
};

/* Calls a user's function for a front end, whose handles and error codes are not the standard's.
 * Returns what the function of MPI returns. */
typedef int weft_errhandler_caller(union weft_errhandler_call user, void *handle, int code);

struct weft_errhandler {
    struct weft_object object;
    int refs;
    enum weft_kind kind; /* kind of its objects; WEFT_KIND_NONE: predefined, for all kinds */
    union weft_errhandler_call call;
    weft_errhandler_caller *caller; /* of a front end, or NULL */
    MPI_Errhandler handle;
};

/* The predefined handlers. Communicators start with MPI_ERRORS_ARE_FATAL. */
extern struct weft_errhandler weft_errors_are_fatal, weft_errors_return;

enum { WEFT_ERRHANDLERS_INITIAL = 3 };
/* The handlers that MPI_COMM_WORLD can have at first, in the order of the setting. */
extern const struct weft_errhandler_initial {
    const char *name; /* value of the key mpi_initial_errhandler */
    struct weft_errhandler *handler;
} weft_errhandlers_initial[WEFT_ERRHANDLERS_INITIAL];

/* Records the sentence of an error that will be raised or stored in a status. Returns errclass. */
__attribute__((format(printf, 2, 3))) WEFT_COLD int weft_error_set(int errclass, const char *format,
                                                                   ...);
__attribute__((format(printf, 2, 0))) WEFT_COLD int
weft_error_setv(int errclass, const char *format, va_list args);

/* The same for a consequence of another rank's error. If the error ends the job, it does so 0.2 s
 * later, so that the rank with the cause reports first. */
__attribute__((format(printf, 2, 3))) WEFT_COLD int
weft_error_set_secondary(int errclass, const char *format, ...);

/* Writes the text of a code, at most len bytes: that of its class, and the last sentence recorded
 * for it. Returns false if the code does not exist. */
bool weft_error_text(int code, char *text, size_t len);

/* Makes a user's error handler with one reference. Returns NULL if memory is short, recorded. */
struct weft_errhandler *weft_errhandler_make(enum weft_kind kind, union weft_errhandler_call call);

/* True if a handler may be attached to objects of a kind. */
bool weft_errhandler_fits(const struct weft_errhandler *handler, enum weft_kind kind);

/* Calls a handler for a recorded error of the object `handle`; function is the name of the MPI
 * function. Returns code, or does not return. */
WEFT_COLD int weft_errhandler_raise(const struct weft_errhandler *handler, void *handle, int code,
                                    const char *function);

/* weft_errhandler_raise; if the handler ends the job, the report names the cause. */
WEFT_COLD int weft_errhandler_raise_cause(const struct weft_errhandler *handler, void *handle,
                                          int code, int cause, const char *function);

/* Drops one reference. */
void weft_errhandler_release(struct weft_errhandler *handler);

/* Prints "weft: rank R on HOST: sentence" to stderr: a report that no error handler receives. */
__attribute__((format(printf, 1, 2))) WEFT_COLD void weft_warn(const char *format, ...);

/* Prints the sentence as weft_warn does and aborts the job with the code. */
__attribute__((format(printf, 2, 3), noreturn)) WEFT_COLD void weft_fatal(int code,
                                                                          const char *format, ...);

struct weft_request;

/* The functions of modules above this one that errors call. core/process sets them when MPI starts;
 * before, they are NULL. */
struct weft_error_hooks {
    bool (*identify)(int *rank, const char **host); /* false: this process is in no job */
    void (*end_job)(int code);
    unsigned (*release)(void); /* locks that a call of the program's handler may need, and retake */
    void (*retake)(unsigned held);
    /* The MPI function that this thread is in; on: the request that it waits for, or NULL. */
    const char *(*function)(const struct weft_request *on, char *buf, size_t len);
};
extern WEFT_HIDDEN struct weft_error_hooks weft_error_hooks;

/* Ends the job with the sentence that was recorded for a class, whatever the error handler. on: the
 * request that failed, or NULL. */
WEFT_COLD _Noreturn void weft_error_end_job(int errclass, const struct weft_request *on);

/* "s", or "" for one thing. */
static inline const char *weft_plural(int count)
{
    return count == 1 ? "" : "s";
}

#endif
