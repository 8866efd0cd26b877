// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reduction operations: which element kinds each predefined one takes, and the loops that apply
 * them.
 *
 * Invariant: weft_op_check allows a predefined operation exactly where weft_op_apply has a loop for
 * it; both read the same table, which is written after that of MPI 5.0 section 6.9.2.
 */
#ifndef WEFT_OP_H
#define WEFT_OP_H

#include "core/datatype/datatype.h"
#include "core/datatype/basic_type.h"
#include "core/object/handle.h"
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
    WEFT_OP_REPLACE, /* this one and the next are for one-sided communication only: a collective
                        call that gets them must refuse them itself */
    WEFT_OP_NO_OP,
    WEFT_OP_IDS /* how many there are */
};

struct weft_op {
    struct weft_object object; /* kind WEFT_KIND_OP */
    enum weft_op_id id;
    bool commutative;
    int refs;                        /* of a user's: its handle, and collectives under way */
    MPI_User_function *user;         /* of MPI_Op_create, else NULL */
    MPI_User_function_c *user_large; /* of MPI_Op_create_c, else NULL */
    MPI_Op handle;                   /* predefined ones: their constant, */
    const char *name;                /* and its name */
};

/* Makes every predefined operation's handle valid. Called once. */
void weft_op_init(void);

/* Bytes from one element of that kind to the next in a buffer; 0 for WEFT_BASIC_NONE. */
size_t weft_basic_size(enum weft_basic_type basic_type);

/* Whether an operation may be applied to elements of that kind: MPI_SUCCESS or MPI_ERR_OP. A user's
 * operation takes everything. */
int weft_op_check(const struct weft_op *op, enum weft_basic_type basic_type);

/* inout[i] = in[i] op inout[i] for count elements; op is predefined and has passed weft_op_check.
 * The buffers do not overlap and are aligned for the element's C type.
 *
 * Integers wrap around. Complex products are C's. MIN and MAX keep inout[i] unless in[i] is less or
 * greater, so a NaN in inout stays and a NaN in in is passed over (the standard says nothing about
 * NaN); MINLOC and MAXLOC likewise. At equal values MINLOC and MAXLOC keep the lower index. Logical
 * operations take any value but 0 for true, and return 0 or 1. Bytes of padding inside a pair are
 * left alone, except by REPLACE. */
void weft_op_apply(const struct weft_op *op, enum weft_basic_type basic_type, const void *in,
                   void *inout, size_t count);

/* The same for elements of any type that the operation takes, a user's operation included: the one
 * place that calls a user's function. in is the left operand. */
void weft_op_combine(const struct weft_op *op, const struct weft_datatype *type, void *in,
                     void *inout, size_t count);

/* Makes a user's operation; one of the functions is NULL. NULL when memory is short. */
struct weft_op *weft_op_make(MPI_User_function *user, MPI_User_function_c *user_large,
                             bool commutative);

/* A user's operation lives until its handle is freed and nobody else holds it. Predefined ones need
 * neither, and do not count. */
void weft_op_retain(const struct weft_op *op);
void weft_op_release(const struct weft_op *op);

#endif
