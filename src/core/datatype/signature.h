// SPDX-License-Identifier: BSD-3-Clause
/*
 * The signature of a datatype: its basic elements in the order of the packed form, without offsets.
 * MPI_Get_elements counts them, external32 converts them.
 *
 * Invariants:
 *  - bytes > 0 and elements > 0. A type without elements has the signature NULL.
 *  - Adjacent elements of the same basic type are one entry. Repetitions and sequences have at
 *    least two passes or entries, so a signature has at most 63 levels.
 *  - Signatures are immutable and may be shared, as layouts are.
 */
#ifndef WEFT_DATATYPE_SIGNATURE_H
#define WEFT_DATATYPE_SIGNATURE_H

#include "core/datatype/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The forms in which external32 writes a basic element (MPI 5.0, section 14.5.2). */
enum weft_form {
    WEFT_FORM_PLAIN,      /* all bytes, most significant first */
    WEFT_FORM_SIGNED,     /* PLAIN, truncated or sign-extended */
    WEFT_FORM_UNSIGNED,   /* PLAIN, truncated or zero-extended */
    WEFT_FORM_LONG_DOUBLE /* the machine's long double as IEEE binary128 */
};

/* A basic element; a complex number is one element of two components. */
struct weft_basic {
    uint8_t size;       /* bytes in memory and in the packed form */
    uint8_t external;   /* bytes in external32 */
    uint8_t form;       /* enum weft_form */
    uint8_t components; /* numbers in it, each of size / components bytes */
};

struct weft_signature {
    size_t bytes, elements, external;            /* totals; external: bytes in external32 */
    size_t count;                                /* number of basic elements, passes or entries */
    struct weft_basic basic;                     /* basic.size == 0: repetition or sequence */
    const struct weft_signature *body;           /* of a repetition, or NULL */
    const struct weft_signature *const *entries; /* of a sequence */
    const size_t *begin;                         /* bytes before each entry */
    const size_t *before;                        /* elements before each entry */
};

/* Builders: as those of layouts. */
const struct weft_signature *weft_signature_basic(struct weft_arena *arena,
                                                  struct weft_basic basic);
const struct weft_signature *weft_signature_repeat(struct weft_arena *arena,
                                                   const struct weft_signature *signature,
                                                   size_t count);

struct weft_signature_list {
    struct weft_arena *arena;
    size_t count, space;
    const struct weft_signature **entries;
    const struct weft_signature *last; /* added last and not yet an entry, or NULL */
    struct weft_signature joined;      /* last with what was joined to it, if joined.bytes > 0 */
};

void weft_signature_list_begin(struct weft_signature_list *list, struct weft_arena *arena);
void weft_signature_list_add(struct weft_signature_list *list,
                             const struct weft_signature *signature);
const struct weft_signature *weft_signature_list_end(struct weft_signature_list *list);

/* Counts the basic elements in the first bytes <= signature->bytes bytes. Returns false if the last
 * one is incomplete. */
bool weft_signature_count(const struct weft_signature *signature, size_t bytes, size_t *elements);

/* Returns the bytes of the first elements <= signature->elements basic elements. */
size_t weft_signature_bytes(const struct weft_signature *signature, size_t elements);

#endif
