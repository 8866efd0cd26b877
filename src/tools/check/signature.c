// SPDX-License-Identifier: BSD-3-Clause
/*
 * Signatures: see signature.h.
 */
#include "tools/check/signature.h"
#include "tools/check/objects.h"

#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x9e3779b97f4a7c15) /* odd, so that powers do not become 0 */

static uint64_t power(uint64_t base, uint64_t n)
{
    uint64_t result = 1;
    for (; n; n >>= 1, base *= base)
        if (n & 1)
            result *= base;
    return result;
}

static struct check_signature join(struct check_signature a, struct check_signature b)
{
    if (a.length == 0 || b.length == 0)
        return a.length ? a : b;
    return (struct check_signature){a.length + b.length, a.hash * power(BASE, b.length) + b.hash,
                                    a.basic == b.basic ? a.basic : 0, a.packed || b.packed};
}

static struct check_signature repeat(struct check_signature once, uint64_t n)
{
    struct check_signature result = {0};
    for (; n; n >>= 1, once = join(once, once))
        if (n & 1)
            result = join(result, once);
    return result;
}

/* One basic type, by a number that is the same on all ranks. */
static struct check_signature basic(uint64_t number)
{
    number = (number + 1) * UINT64_C(0xff51afd7ed558ccd);
    return (struct check_signature){1, number ^ number >> 29, 0, false};
}

static struct check_signature named(MPI_Datatype type)
{
    static const struct {
        MPI_Datatype pair, first, second;
    } pairs[] = {
        {MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},
        {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
        {MPI_LONG_INT, MPI_LONG, MPI_INT},
        {MPI_2INT, MPI_INT, MPI_INT},
        {MPI_SHORT_INT, MPI_SHORT, MPI_INT},
        {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
        {MPI_2REAL, MPI_REAL, MPI_REAL},
        {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
        {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (type == pairs[i].pair)
            return join(basic((uintptr_t)pairs[i].first), basic((uintptr_t)pairs[i].second));
    struct check_signature signature = basic((uintptr_t)type);
    signature.basic = (uintptr_t)type;
    signature.packed = type == MPI_PACKED;
    return signature;
}

/* ---- Derived types */

static struct check_signature read_type(MPI_Datatype type);

/* The lengths and displacements of blocks are integers and addresses, or counts of the form with
 * large counts. The number of blocks precedes the lengths. */
int64_t check_contents_length(const struct check_contents *contents, int64_t block)
{
    return contents->counts > block + 1 ? contents->count[block + 1] : contents->integer[block + 1];
}

int64_t check_contents_displacement(const struct check_contents *contents, int64_t block)
{
    return contents->addresses > block ? contents->address[block]
                                       : contents->count[1 + contents->types + block];
}

static struct check_signature read_structure(const struct check_contents *contents)
{
    struct check_signature signature = {0};
    for (MPI_Count i = 0; i < contents->types; i++) {
        const uint64_t n = (uint64_t)check_contents_length(contents, i);
        signature = join(signature, repeat(read_type(contents->type[i]), n));
    }
    return signature;
}

static struct check_signature read_contents(MPI_Datatype type,
                                            const struct check_contents *contents)
{
    MPI_Count size, old;
    if (contents->combiner == MPI_COMBINER_STRUCT)
        return read_structure(contents);
    if (contents->types == 0) { /* of MPI_Type_create_f90_real: precision and range */
        uint64_t number = 0x1000 + (uint64_t)contents->combiner;
        for (MPI_Count i = 0; i < contents->integers; i++)
            number = number * 0x10001 + (uint64_t)contents->integer[i];
        return basic(number);
    }
    weft_next.Type_size_c(type, &size);
    weft_next.Type_size_c(contents->type[0], &old);
    return old > 0 ? repeat(read_type(contents->type[0]), (uint64_t)(size / old))
                   : (struct check_signature){0};
}

bool check_contents_read(MPI_Datatype type, struct check_contents *c)
{
    *c = (struct check_contents){0};
    weft_next.Type_get_envelope_c(type, &c->integers, &c->addresses, &c->counts, &c->types,
                                  &c->combiner);
    if (c->combiner == MPI_COMBINER_NAMED)
        return false;
    c->integer = weft_interpose_allocate((size_t)c->integers, sizeof *c->integer);
    c->address = weft_interpose_allocate((size_t)c->addresses, sizeof *c->address);
    c->count = weft_interpose_allocate((size_t)c->counts, sizeof *c->count);
    c->type = weft_interpose_allocate((size_t)c->types, sizeof *c->type);
    weft_next.Type_get_contents_c(type, c->integers, c->addresses, c->counts, c->types, c->integer,
                                  c->address, c->count, c->type);
    return true;
}

void check_contents_free(struct check_contents *c)
{
    for (MPI_Count i = 0; i < c->types; i++)
        weft_interpose_free_type(&c->type[i]);
    free(c->integer);
    free(c->address);
    free(c->count);
    free(c->type);
}

static struct check_signature read_derived(MPI_Datatype type)
{
    struct check_contents contents;
    if (!check_contents_read(type, &contents))
        return named(type);
    const struct check_signature signature = read_contents(type, &contents);
    check_contents_free(&contents);
    return signature;
}

static struct check_signature read_type(MPI_Datatype type)
{
    return weft_object_is_predefined(type) ? named(type) : read_derived(type);
}

/* Programs use few types and counts again and again: the last signatures are kept. */
static struct check_signature signature_of_named(MPI_Datatype type, int64_t count)
{
    enum { KEPT = 16 };
    static CHECK_THREAD struct {
        MPI_Datatype type;
        int64_t count; /* 0: the slot is empty */
        struct check_signature signature;
    } kept[KEPT];
    const size_t at = ((uintptr_t)type + (uint64_t)count * 7) % KEPT;
    if (kept[at].type != type || kept[at].count != count) {
        kept[at].type = type;
        kept[at].count = count;
        kept[at].signature = repeat(named(type), (uint64_t)count);
    }
    return kept[at].signature;
}

struct check_signature check_signature_of(MPI_Datatype type, int64_t count)
{
    struct check_signature one = {0};
    bool is_known = false;
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return one;
    if (weft_object_is_predefined(type))
        return signature_of_named(type, count);
    check_lock();
    struct check_object *object = check_object_find(WEFT_OBJECT_DATATYPE, type);
    if (object && object->uses > 0 && object->described) {
        is_known = true;
        one = object->signature;
    }
    check_unlock();
    if (!is_known) {
        one = read_derived(type);
        check_lock();
        object = check_object_find(WEFT_OBJECT_DATATYPE, type);
        if (object && object->uses > 0) {
            object->described = true;
            object->signature = one;
        }
        check_unlock();
    }
    return repeat(one, (uint64_t)count);
}

bool check_signature_fits(const struct check_signature *a, const struct check_signature *b)
{
    return a->packed || b->packed || (a->length == b->length && a->hash == b->hash);
}

bool check_signature_begins(const struct check_signature *sent,
                            const struct check_signature *received,
                            const struct check_signature *one)
{
    const uint64_t byte = (uintptr_t)MPI_BYTE;
    if (sent->hash == received->hash && sent->length == received->length)
        return true;
    if (sent->packed || received->packed || sent->basic == byte || received->basic == byte ||
        sent->length == 0)
        return true;
    if (sent->length >= received->length)
        return sent->length == received->length && sent->hash == received->hash;
    if (received->basic)
        return received->basic == sent->basic;
    if (one->length == 0 || sent->length % one->length)
        return true;
    return repeat(*one, sent->length / one->length).hash == sent->hash;
}

void check_signature_print(const struct check_signature *signature, char *text, size_t size)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    MPI_Datatype basic;
    const uintptr_t handle = (uintptr_t)signature->basic;
    memcpy(&basic, &handle, sizeof basic);
    if (handle)
        weft_next.Type_get_name(basic, name, &length);
    if (signature->length == 0)
        snprintf(text, size, "no data");
    else if (name[0])
        snprintf(text, size, "%llu %s", (unsigned long long)signature->length, name);
    else
        snprintf(text, size, "%llu elements of several types",
                 (unsigned long long)signature->length);
}
