// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reduction operations: their basic types, and applying them.
 *
 * Invariant: weft_op_check accepts a predefined operation exactly if weft_op_apply has a loop for
 * the basic type; both use one table, that of MPI 5.0 section 6.9.2 with the additions that op.c
 * lists.
 */
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include "core/datatype/datatype.h"
#include "core/datatype/basic_type.h"
#include "core/base/handle.h"
#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>

enum weft_op_id {
    WEFT_OP_USER, /* made by MPI_Op_create */
    WEFT_OP_SUM,
    WEFT_OP_PROD,
    WEFT_OP_MIN,
    WEFT_OP_MAX,
    WEFT_OP_LAND,
    WEFT_OP_LOR,
    WEFT_OP_LXOR,
    WEFT_OP_BAND,
    WEFT_OP_BOR,
    WEFT_OP_BXOR,
    WEFT_OP_MINLOC,
    WEFT_OP_MAXLOC,
    WEFT_OP_REPLACE, /* REPLACE and NO_OP are for one-sided communication; collectives reject
                        them */
    WEFT_OP_NO_OP,
    WEFT_OP_IDS /* number of operations */
};

/* Call a user's function for a front end, whose handle of the type is not the standard's. */
typedef void weft_op_caller(MPI_User_function *user, void *in, void *inout, int *count,
                            MPI_Datatype type);
typedef void weft_op_caller_c(MPI_User_function_c *user, void *in, void *inout, MPI_Count *count,
                              MPI_Datatype type);

struct weft_op {
    struct weft_object object; /* kind WEFT_KIND_OP */
    enum weft_op_id id;
    bool commutative;
    int refs;                        /* user's operation: its handle and active collectives */
    MPI_User_function *user;         /* of MPI_Op_create, or NULL */
    MPI_User_function_c *user_large; /* of MPI_Op_create_c, or NULL */
    weft_op_caller *caller;          /* of a front end, for `user`; or NULL */
    weft_op_caller_c *caller_large;  /* the same for `user_large` */
    MPI_Op handle;
    const char *name; /* of a predefined operation */
};

/* Makes the handles of the predefined operations valid. Called once. */
void weft_op_init(void);

/* Uses loops with vectors of at most so many bytes, for tests; weft_op_init sets no limit. */
void weft_op_limit_vectors(unsigned most);

/* Bytes from one element of a basic type to the next; 0 for WEFT_BASIC_NONE. */
size_t weft_basic_size(enum weft_basic_type basic_type);

/* Returns MPI_SUCCESS if an operation accepts a basic type, else MPI_ERR_OP. User operations accept
 * all types. */
int weft_op_check(const struct weft_op *op, enum weft_basic_type basic_type);

/* inout[i] = in[i] op inout[i] for count elements; op is predefined and weft_op_check accepts the
 * type. The buffers do not overlap and are aligned for the machine type.
 *
 * Integers wrap around. MIN, MAX, MINLOC and MAXLOC keep inout[i] unless in[i] is less or greater,
 * so a NaN in inout is kept and a NaN in `in` is ignored; the standard does not define NaN. For
 * equal values MINLOC and MAXLOC keep the lower index. Logical operations take any non-zero value
 * as true and return 0 or 1. Padding inside a pair is written by REPLACE only. */
void weft_op_apply(const struct weft_op *op, enum weft_basic_type basic_type, const void *in,
                   void *inout, size_t count);

/* inout[i] = in[i] op inout[i] for elements of any type that the operation accepts, predefined or
 * user's. The only caller of a user's function. */
void weft_op_combine(const struct weft_op *op, const struct weft_datatype *type, void *in,
                     void *inout, size_t count);

/* Makes a user's operation with one reference; one of the functions is NULL. Returns NULL if memory
 * is short. */
struct weft_op *weft_op_make(MPI_User_function *user, MPI_User_function_c *user_large,
                             bool commutative);

/* Add and drop a reference. Without effect on predefined operations. */
void weft_op_retain(const struct weft_op *op);
void weft_op_release(const struct weft_op *op);

#endif
