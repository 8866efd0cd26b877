// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions of the user that run inside of calls on an object: copy and delete functions of
 * attributes, conversions of data representations, and the query and free functions of generalized
 * requests. They may call MPI, but not free the object, which the outer call uses afterwards, and
 * not end MPI.
 *
 * Error handlers are not recorded: they run when the call has ended, and may leave it by an
 * exception.
 *
 * Invariant: the records of a thread are on its stack, the innermost first.
 */
#ifndef WEFT_CALLBACK_H
#define WEFT_CALLBACK_H

struct weft_callback {
    const void *object;
    const char *function; /* "the delete function of an attribute" */
    struct weft_callback *outer;
};

/* The user's function is called next, or has returned. */
void weft_callback_begin(struct weft_callback *callback, const void *object, const char *function);
void weft_callback_end(const struct weft_callback *callback);

/* For a call that frees the object: MPI_SUCCESS, or records an error of the class if a function of
 * the user runs in this thread inside of a call on it. NULL: any object. action: "the communicator
 * cannot be freed". */
int weft_callback_check(const void *object, int errclass, const char *action);

#endif
