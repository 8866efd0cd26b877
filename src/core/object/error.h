// SPDX-License-Identifier: BSD-3-Clause
/*
 * Errors: one class, one sentence, one handler.
 *
 * Invariants:
 *  - Whoever decides that something is an error writes its sentence (weft_error_set); whoever
 *    returns to the user calls the handler (weft_error_raise), once.
 *  - An error code is its class. MPI_Error_string adds the last sentence said for that class by
 *    this process, so that a code can be compared with a class and still tells the whole story.
 */
#ifndef WEFT_ERROR_H
#define WEFT_ERROR_H

#include "core/object/handle.h"
#include "mpi.h"

#include <stdarg.h>
#include <stdbool.h>

struct weft_comm;
struct weft_session;

/* A user's handler; which member counts follows from the kind. */
union weft_errhandler_call {
    MPI_Comm_errhandler_function *comm;
    MPI_Session_errhandler_function *session;
    MPI_Win_errhandler_function *win;
    MPI_File_errhandler_function *file;
};

struct weft_errhandler {
    struct weft_object object;
    int refs;
    enum weft_kind kind; /* of the objects it is for; WEFT_KIND_NONE: a predefined one, for all */
    union weft_errhandler_call call;
    MPI_Errhandler handle; /* what the user sees */
};

/* The handlers a communicator begins with: MPI_ERRORS_ARE_FATAL. */
extern struct weft_errhandler weft_errors_are_fatal, weft_errors_abort, weft_errors_return;

/* Makes the predefined handlers' handles valid. Called once. */
void weft_error_init(void);

/* Records the sentence of an error that will be raised or stored in a status. Returns errclass. */
__attribute__((format(printf, 2, 3))) WEFT_COLD int weft_error_set(int errclass, const char *format,
                                                                   ...);
__attribute__((format(printf, 2, 0))) WEFT_COLD int
weft_error_setv(int errclass, const char *format, va_list args);

/* What was just said is only what another rank's error has done here. If it ends the job, it does so a
 * fifth of a second later, so that the cause comes first. */
WEFT_COLD void weft_error_secondary(void);

/* Calls the error handler of comm (NULL: of MPI_COMM_SELF, MPI 5.0 section 9.3) for an error whose
 * sentence was said; function is the MPI function that raises it. Returns errclass, or does not
 * return. */
WEFT_COLD int weft_error_raise(struct weft_comm *comm, int errclass, const char *function);

/* The same for an error of a session. */
WEFT_COLD int weft_error_raise_in_session(struct weft_session *session, int errclass,
                                          const char *function);

/* weft_error_raise for MPI_ERR_IN_STATUS, which a call on many requests raises when one of them failed;
 * cause is that request's own error: if the job ends, it is this that ends it and is said. */
WEFT_COLD int weft_error_raise_in_status(struct weft_comm *comm, int cause, const char *function);

/* weft_error_set and weft_error_raise in one. */
__attribute__((format(printf, 4, 5))) WEFT_COLD int
weft_error(struct weft_comm *comm, int errclass, const char *function, const char *format, ...);

/* The sentence for a code: the class's own text and the last sentence said for it. Writes at most
 * len bytes. Returns false for a code that is none. */
bool weft_error_text(int code, char *text, size_t len);

/* A user's handler, with one reference. NULL when memory is short, the sentence said. */
struct weft_errhandler *weft_errhandler_make(enum weft_kind kind, union weft_errhandler_call call);

/* Whether a handler may be set on objects of a kind. */
bool weft_errhandler_fits(const struct weft_errhandler *handler, enum weft_kind kind);

/* Calls a handler for an error of the object with that handle (of the handler's kind). The same
 * return as for weft_error_raise. */
WEFT_COLD int weft_errhandler_raise(struct weft_errhandler *handler, void *handle, int code,
                                    const char *function);

/* Gives up one reference. */
void weft_errhandler_release(struct weft_errhandler *handler);

/* One line on stderr: "weft: rank R on HOST: sentence". For what no error handler can be told. */
__attribute__((format(printf, 1, 2))) WEFT_COLD void weft_warn(const char *format, ...);

/* Ends the job: says the sentence, aborts through the launcher with the code. */
__attribute__((format(printf, 2, 3), noreturn)) WEFT_COLD void weft_fatal(int code,
                                                                          const char *format, ...);

#endif
