// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attributes that users cache on communicators, datatypes and windows (MPI 5.0 section 7.7).
 *
 * Invariants:
 *  - A key and its number exist until the key is freed and no attribute uses it.
 *  - The attributes of an object are a list, the last one set first; they are deleted in this
 *    order.
 *  - An attribute is removed from the list after its delete function has returned MPI_SUCCESS, or
 *    after an error in MPI_Finalize.
 *  - An attribute whose delete function runs is neither deleted nor replaced.
 *  - A removed attribute exists while `pins` is not 0.
 *
 * Functions return MPI_SUCCESS or an error code that was recorded; an error code of a callback is
 * returned to the caller. Callbacks may call MPI and these functions.
 */
#ifndef WEFT_ATTRIBUTE_H
#define WEFT_ATTRIBUTE_H

#include "core/base/handle.h"
#include "mpi.h"

#include <stdbool.h>

/* A copy or a delete function; the kind of the key selects the member. The members differ only in
 * the type of the handle. */
union weft_attribute_copy {
    MPI_Comm_copy_attr_function *comm;
    MPI_Type_copy_attr_function *type;
    MPI_Win_copy_attr_function *win;
};

union weft_attribute_delete {
    MPI_Comm_delete_attr_function *comm;
    MPI_Type_delete_attr_function *type;
    MPI_Win_delete_attr_function *win;
};

struct weft_keyval {
    enum weft_kind kind; /* kind of its objects: WEFT_KIND_COMM, _DATATYPE or _WIN */
    int number;          /* the user's handle */
    int refs;            /* number of attributes, and 1 until the user frees the key */
    bool freed;
    union weft_attribute_copy copy;
    union weft_attribute_delete delete;
    void *extra;
};

struct weft_attribute {
    struct weft_attribute *next;
    struct weft_keyval *keyval;
    void *value;
    int pins; /* copies of the object's attributes that have it still before them */
    bool removed, deleting;
};

/* An object that has attributes. */
struct weft_attributed {
    enum weft_kind kind;
    void *handle; /* MPI_Comm, MPI_Datatype or MPI_Win */
    struct weft_attribute **list;
};

/* Makes a key. Returns NULL if memory is short, recorded. */
struct weft_keyval *weft_keyval_make(enum weft_kind kind, union weft_attribute_copy copy,
                                     union weft_attribute_delete delete, void *extra);

/* The key of a number, or NULL if there is none of that kind. A freed key is found while an
 * attribute uses it. */
struct weft_keyval *weft_keyval_find(enum weft_kind kind, int number);

/* Frees the user's reference to a key. A second call has no effect. */
void weft_keyval_free(struct weft_keyval *keyval);

/* Sets an attribute, after deleting the one with the same key. */
int weft_attribute_set(struct weft_attributed of, struct weft_keyval *keyval, void *value);

/* Reads an attribute. Returns false if it is not set. */
bool weft_attribute_get(struct weft_attributed of, const struct weft_keyval *keyval, void **value);

/* For a call that frees the object: MPI_SUCCESS, or an error of the class if a copy or delete
 * function of its attributes runs. action: see weft_callback_check. */
int weft_attribute_check_free(struct weft_attributed of, int errclass, const char *action);

/* Deletes an attribute. Returns MPI_ERR_KEYVAL if it is not set. */
int weft_attribute_delete_one(struct weft_attributed of, struct weft_keyval *keyval);

/* Deletes all attributes, the last one set first, until a delete function returns an error. */
int weft_attribute_delete_all(struct weft_attributed of);

/* The same when the object ends in any case: an attribute whose delete function returns an error is
 * removed, too, and the others follow. Returns the last error. */
int weft_attribute_delete_finally(struct weft_attributed of);

/* Frees all attributes without calling their delete functions, at the end of the library. */
void weft_attribute_free_all(struct weft_attribute **list);

/* Calls the copy functions of all attributes of `from`, the first one set first, and sets the
 * copies on `to`. After an error the copies made so far remain. */
int weft_attribute_copy_all(struct weft_attributed from, struct weft_attributed to);

#endif
