// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attributes: what users cache on communicators, datatypes and windows (MPI 5.0 section 7.7).
 *
 * Invariants:
 *  - A key exists from its making until it is freed and no attribute has it any more; until then its
 *    number names it, and it is not given to another.
 *  - An object's attributes are a list, the one set last first; they are deleted in that order.
 *  - A callback sees the object as it is: an attribute leaves the list after its delete function has
 *    allowed it, and is copied before the copy can be seen.
 *
 * What a callback returns other than MPI_SUCCESS is an error code that goes to the caller, its
 * sentence said. Callbacks may call MPI, and these functions.
 */
#ifndef WEFT_ATTRIBUTE_H
#define WEFT_ATTRIBUTE_H

#include "core/object/handle.h"
#include "mpi.h"

#include <stdbool.h>

/* A copy or a delete function; which member counts follows from the kind of the key. The three
 * differ in nothing but the type of the handle. */
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
    enum weft_kind kind; /* of the objects that it is for: WEFT_KIND_COMM, _DATATYPE or _WIN */
    int number;          /* what the user sees */
    int refs;            /* attributes that have it, and 1 until the user frees it */
    bool freed;
    union weft_attribute_copy copy;
    union weft_attribute_delete delete;
    void *extra;
};

struct weft_attribute {
    struct weft_attribute *next;
    struct weft_keyval *keyval;
    void *value;
};

/* An object that has attributes. */
struct weft_attributed {
    enum weft_kind kind;
    void *handle; /* MPI_Comm, MPI_Datatype or MPI_Win */
    struct weft_attribute **list;
};

/* A new key. NULL when memory is short, the sentence said. */
struct weft_keyval *weft_keyval_make(enum weft_kind kind, union weft_attribute_copy copy,
                                     union weft_attribute_delete delete, void *extra);

/* The key of a number, or NULL if there is none of that kind. One that was freed is found as long as
 * some attribute has it. */
struct weft_keyval *weft_keyval_find(enum weft_kind kind, int number);

/* The user frees a key; once more, while some attribute still has it, changes nothing. */
void weft_keyval_free(struct weft_keyval *keyval);

/* Sets an attribute; one of that key is deleted before. */
int weft_attribute_set(struct weft_attributed of, struct weft_keyval *keyval, void *value);

/* The value of an attribute. False when it is not set. */
bool weft_attribute_get(struct weft_attributed of, const struct weft_keyval *keyval, void **value);

/* Deletes an attribute; nothing happens when it is not set (MPI_ERR_KEYVAL). */
int weft_attribute_delete_one(struct weft_attributed of, struct weft_keyval *keyval);

/* Deletes all, the one set last first, up to the first that a callback does not allow. */
int weft_attribute_delete_all(struct weft_attributed of);

/* Frees all and asks nobody: the end of the library. */
void weft_attribute_free_all(struct weft_attribute **list);

/* Asks the copy functions of all attributes of an object, the one set first first, and sets those
 * that are to be copied on another one. After an error the copies made so far stand. */
int weft_attribute_copy_all(struct weft_attributed from, struct weft_attributed to);

#endif
