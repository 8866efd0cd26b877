// SPDX-License-Identifier: BSD-3-Clause
/*
 * The sequence of basic elements of a datatype: see signature.h.
 */
#include "core/datatype/signature.h"
#include "core/datatype/layout.h"
#include "core/base/assert.h"

#include <stdlib.h>

static const struct weft_signature *keep_signature(struct weft_arena *arena,
                                                   struct weft_signature signature)
{
    weft_assert(signature.bytes > 0 && signature.elements > 0);
    weft_assert(signature.basic.size || signature.count >= 2);
    struct weft_signature *kept = weft_arena_get(arena, sizeof *kept);
    if (kept)
        *kept = signature;
    return kept;
}

const struct weft_signature *weft_signature_basic(struct weft_arena *arena, struct weft_basic basic)
{
    return keep_signature(arena, (struct weft_signature){.bytes = basic.size,
                                                         .elements = 1,
                                                         .external = basic.external,
                                                         .count = 1,
                                                         .basic = basic});
}

const struct weft_signature *weft_signature_repeat(struct weft_arena *arena,
                                                   const struct weft_signature *signature,
                                                   size_t count)
{
    if (!signature || !count)
        return NULL;
    if (count == 1)
        return signature;
    struct weft_signature many = *signature;
    many.bytes *= count;
    many.elements *= count;
    many.external *= count;
    if (signature->basic.size || signature->body) {
        many.count *= count;
        return keep_signature(arena, many);
    }
    many.count = count;
    many.body = signature;
    many.entries = NULL;
    many.begin = many.before = NULL;
    return keep_signature(arena, many);
}

void weft_signature_list_begin(struct weft_signature_list *list, struct weft_arena *arena)
{
    *list = (struct weft_signature_list){.arena = arena};
}

static bool same_basic(struct weft_basic a, struct weft_basic b)
{
    return a.size && a.size == b.size && a.external == b.external && a.form == b.form &&
           a.components == b.components;
}

/* Appends b to *a, if both repeat the same body or basic element. Returns false otherwise. */
static bool join(struct weft_signature *a, const struct weft_signature *self,
                 const struct weft_signature *b)
{
    const struct weft_signature *body = a->body ? a->body : self;
    if (!same_basic(a->basic, b->basic) && body != b && body != b->body)
        return false;
    a->bytes += b->bytes;
    a->elements += b->elements;
    a->external += b->external;
    if (a->basic.size) {
        a->count += b->count;
        return true;
    }
    a->count = a->bytes / body->bytes;
    a->body = body;
    a->entries = NULL;
    a->begin = a->before = NULL;
    return true;
}

/* Appends the pending signature as an entry. */
static void append_last(struct weft_signature_list *list)
{
    if (!list->last)
        return;
    if (list->count == list->space) {
        size_t space = list->space ? 2 * list->space : 8;
        const struct weft_signature **entries = realloc(list->entries, space * sizeof *entries);
        if (!entries) {
            list->arena->failed = true;
            return;
        }
        list->entries = entries;
        list->space = space;
    }
    list->entries[list->count++] =
        list->joined.bytes ? keep_signature(list->arena, list->joined) : list->last;
    list->last = NULL;
    list->joined.bytes = 0;
}

void weft_signature_list_add(struct weft_signature_list *list,
                             const struct weft_signature *signature)
{
    if (!signature || list->arena->failed)
        return;
    if (list->last) {
        struct weft_signature both = list->joined.bytes ? list->joined : *list->last;
        if (join(&both, list->last, signature)) {
            list->joined = both;
            return;
        }
    }
    append_last(list);
    list->last = signature;
}

const struct weft_signature *weft_signature_list_end(struct weft_signature_list *list)
{
    struct weft_arena *arena = list->arena;
    append_last(list);
    size_t n = list->count;
    if (n < 2 || arena->failed) {
        const struct weft_signature *only = n && !arena->failed ? list->entries[0] : NULL;
        free(list->entries);
        return only;
    }
    struct weft_signature all = {.count = n};
    size_t *begin = weft_arena_get(arena, n * sizeof *begin);
    size_t *before = weft_arena_get(arena, n * sizeof *before);
    const struct weft_signature **entries =
        weft_arena_add(arena, list->entries, list->space * sizeof(void *));
    if (!begin || !before || !entries)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        begin[i] = all.bytes;
        before[i] = all.elements;
        all.bytes += entries[i]->bytes;
        all.elements += entries[i]->elements;
        all.external += entries[i]->external;
    }
    all.entries = entries;
    all.begin = begin;
    all.before = before;
    return keep_signature(arena, all);
}

bool weft_signature_count(const struct weft_signature *signature, size_t bytes, size_t *elements)
{
    *elements = 0;
    while (bytes) {
        weft_assert(bytes <= signature->bytes);
        if (bytes == signature->bytes) {
            *elements += signature->elements;
            return true;
        }
        if (signature->basic.size) {
            *elements += bytes / signature->basic.size;
            return bytes % signature->basic.size == 0;
        }
        if (signature->body) {
            *elements += bytes / signature->body->bytes * signature->body->elements;
            bytes %= signature->body->bytes;
            signature = signature->body;
        } else {
            size_t i = weft_find_start(signature->begin, signature->count, bytes);
            *elements += signature->before[i];
            bytes -= signature->begin[i];
            signature = signature->entries[i];
        }
    }
    return true;
}

size_t weft_signature_bytes(const struct weft_signature *signature, size_t elements)
{
    size_t bytes = 0;
    while (elements) {
        weft_assert(elements <= signature->elements);
        if (elements == signature->elements)
            return bytes + signature->bytes;
        if (signature->basic.size)
            return bytes + elements * signature->basic.size;
        if (signature->body) {
            bytes += elements / signature->body->elements * signature->body->bytes;
            elements %= signature->body->elements;
            signature = signature->body;
        } else {
            size_t i = weft_find_start(signature->before, signature->count, elements);
            bytes += signature->begin[i];
            elements -= signature->before[i];
            signature = signature->entries[i];
        }
    }
    return bytes;
}
