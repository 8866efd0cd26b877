// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the bytes of a packed form are: the basic elements of a datatype, in order, wherever they
 * lie. MPI_Get_elements counts them, external32 converts them.
 *
 * Invariants:
 *  - No elements at all is no signature: NULL. bytes and elements are not 0.
 *  - Neighbours of the same basic type are one entry; sequences and repetitions have at least two
 *    passes or entries, so signatures are at most 63 levels deep.
 *  - Signatures never change and may be shared like layouts.
 */
#ifndef WEFT_DATATYPE_SIGNATURE_H
#define WEFT_DATATYPE_SIGNATURE_H

#include "core/datatype/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How external32 writes a basic element (MPI 5.0, section 14.5.2). */
enum weft_form {
    WEFT_FORM_PLAIN,      /* the bytes, most significant first */
    WEFT_FORM_SIGNED,     /* the same, shorter or longer by copies of the sign */
    WEFT_FORM_UNSIGNED,   /* the same, shorter or longer by zeros */
    WEFT_FORM_LONG_DOUBLE /* this machine's long double as 16 bytes of IEEE */
};

/* A basic element. A complex number is one element of two parts. */
struct weft_basic {
    uint8_t size;     /* bytes in memory and in the packed form */
    uint8_t external; /* bytes in external32 */
    uint8_t form;     /* enum weft_form */
    uint8_t parts;    /* numbers in it, each of size / parts bytes */
};

struct weft_signature {
    size_t bytes, elements, external;            /* of everything in it */
    size_t count;                                /* of basic elements, passes or entries */
    struct weft_basic basic;                     /* size 0: not basic */
    const struct weft_signature *body;           /* of repetitions */
    const struct weft_signature *const *entries; /* of sequences */
    const size_t *begin;                         /* bytes before each entry of a sequence */
    const size_t *before;                        /* elements before each */
};

const struct weft_signature *weft_signature_basic(struct weft_arena *arena,
                                                  struct weft_basic basic);

/* Builders, as those of layouts. */
const struct weft_signature *weft_signature_repeat(struct weft_arena *arena,
                                                   const struct weft_signature *signature,
                                                   size_t count);

struct weft_signature_list {
    struct weft_arena *arena;
    size_t count, room;
    const struct weft_signature **entries;
    const struct weft_signature *last; /* what came last, not an entry yet; NULL: nothing */
    struct weft_signature joined;      /* … with what continued it, when its bytes are not 0 */
};

void weft_signature_list_begin(struct weft_signature_list *list, struct weft_arena *arena);
void weft_signature_list_add(struct weft_signature_list *list,
                             const struct weft_signature *signature);
const struct weft_signature *weft_signature_list_end(struct weft_signature_list *list);

/* Basic elements in the first bytes <= signature->bytes bytes. False when a part of one is left. */
bool weft_signature_count(const struct weft_signature *signature, size_t bytes, size_t *elements);

/* Bytes of the first elements <= signature->elements basic elements. */
size_t weft_signature_bytes(const struct weft_signature *signature, size_t elements);

#endif
