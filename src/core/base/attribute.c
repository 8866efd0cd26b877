// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attributes: see attribute.h.
 *
 * Invariant: keyvals[i] is the key with the number FIRST_NUMBER + i, or NULL if the number is free.
 */
#include "core/base/attribute.h"
#include "core/base/callback.h"
#include "core/base/error.h"

#include <stdlib.h>

/* Above every predefined key. */
enum { FIRST_NUMBER = 0x10000 };

static struct weft_keyval **keyvals;
static size_t keyvals_used, keyvals_space;

/* ---- Keys */

/* The first free index in the table, or -1 if memory is short. */
static int free_index(void)
{
    for (size_t i = 0; i < keyvals_used; i++)
        if (!keyvals[i])
            return (int)i;
    if (keyvals_used == keyvals_space) {
        size_t space = keyvals_space ? 2 * keyvals_space : 16;
        struct weft_keyval **more = realloc(keyvals, space * sizeof(struct weft_keyval *));
        if (!more)
            return -1;
        keyvals = more;
        keyvals_space = space;
    }
    return (int)keyvals_used++;
}

struct weft_keyval *weft_keyval_make(enum weft_kind kind, union weft_attribute_copy copy,
                                     union weft_attribute_delete delete, void *extra)
{
    struct weft_keyval *keyval = malloc(sizeof *keyval);
    int index = keyval ? free_index() : -1;
    if (index < 0) {
        free(keyval);
        weft_error_set(MPI_ERR_NO_MEM, "no memory for another attribute key");
        return NULL;
    }
    *keyval = (struct weft_keyval){.kind = kind,
                                   .number = FIRST_NUMBER + index,
                                   .refs = 1,
                                   .copy = copy,
                                   .delete = delete,
                                   .extra = extra};
    keyvals[index] = keyval;
    return keyval;
}

struct weft_keyval *weft_keyval_find(enum weft_kind kind, int number)
{
    if (number < FIRST_NUMBER || (size_t)(number - FIRST_NUMBER) >= keyvals_used)
        return NULL;
    struct weft_keyval *keyval = keyvals[number - FIRST_NUMBER];
    return keyval && keyval->kind == kind ? keyval : NULL;
}

static void release_keyval(struct weft_keyval *keyval)
{
    weft_assert(keyval->refs > 0 && keyvals[keyval->number - FIRST_NUMBER] == keyval);
    if (--keyval->refs > 0)
        return;
    keyvals[keyval->number - FIRST_NUMBER] = NULL;
    free(keyval);
}

void weft_keyval_free(struct weft_keyval *keyval)
{
    if (keyval->freed)
        return;
    keyval->freed = true;
    release_keyval(keyval);
}

/* ---- Callbacks */

static int call_delete(struct weft_attributed of, const struct weft_attribute *attribute)
{
    const struct weft_keyval *keyval = attribute->keyval;
    struct weft_callback callback;
    int code = MPI_SUCCESS;
    weft_callback_begin(&callback, of.list, "the delete function of an attribute");
    if (keyval->kind == WEFT_KIND_COMM && keyval->delete.comm != MPI_COMM_NULL_DELETE_FN)
        code = keyval->delete.comm(of.handle, keyval->number, attribute->value, keyval->extra);
    else if (keyval->kind == WEFT_KIND_DATATYPE && keyval->delete.type != MPI_TYPE_NULL_DELETE_FN)
        code = keyval->delete.type(of.handle, keyval->number, attribute->value, keyval->extra);
    else if (keyval->kind == WEFT_KIND_WIN && keyval->delete.win != MPI_WIN_NULL_DELETE_FN)
        code = keyval->delete.win(of.handle, keyval->number, attribute->value, keyval->extra);
    weft_callback_end(&callback);
    if (code != MPI_SUCCESS)
        weft_error_set(code, "the delete function of attribute key %d returned %d", keyval->number,
                       code);
    return code;
}

/* Sets *flag if the attribute is to be copied, and *value to the value of the copy. */
static int call_copy(struct weft_attributed from, const struct weft_attribute *attribute,
                     void **value, int *flag)
{
    const struct weft_keyval *keyval = attribute->keyval;
    int code = MPI_SUCCESS, number = keyval->number;
    struct weft_callback callback;
    /* The constants have the same values for all three kinds. */
    if (keyval->copy.comm == MPI_COMM_NULL_COPY_FN || keyval->copy.comm == MPI_COMM_DUP_FN) {
        *flag = keyval->copy.comm == MPI_COMM_DUP_FN;
        *value = attribute->value;
        return MPI_SUCCESS;
    }
    *flag = 0;
    *value = NULL;
    weft_callback_begin(&callback, from.list, "the copy function of an attribute");
    if (keyval->kind == WEFT_KIND_COMM)
        code = keyval->copy.comm(from.handle, number, keyval->extra, attribute->value, value, flag);
    else if (keyval->kind == WEFT_KIND_DATATYPE)
        code = keyval->copy.type(from.handle, number, keyval->extra, attribute->value, value, flag);
    else if (keyval->kind == WEFT_KIND_WIN)
        code = keyval->copy.win(from.handle, number, keyval->extra, attribute->value, value, flag);
    weft_callback_end(&callback);
    if (code != MPI_SUCCESS)
        weft_error_set(code, "the copy function of attribute key %d returned %d", number, code);
    return code;
}

/* ---- Attributes */

static struct weft_attribute *find_attribute(struct weft_attributed of,
                                             const struct weft_keyval *keyval)
{
    struct weft_attribute *attribute = *of.list;
    while (attribute && attribute->keyval != keyval)
        attribute = attribute->next;
    return attribute;
}

bool weft_attribute_get(struct weft_attributed of, const struct weft_keyval *keyval, void **value)
{
    const struct weft_attribute *attribute = find_attribute(of, keyval);
    if (attribute)
        *value = attribute->value;
    return attribute != NULL;
}

static void free_unpinned(struct weft_attribute *attribute)
{
    if (!attribute->removed || attribute->pins)
        return;
    release_keyval(attribute->keyval);
    free(attribute);
}

static void remove_attribute(struct weft_attributed of, struct weft_attribute *attribute)
{
    struct weft_attribute **link = of.list;
    while (*link != attribute)
        link = &(*link)->next;
    *link = attribute->next;
    attribute->removed = true;
    free_unpinned(attribute);
}

static int delete_attribute(struct weft_attributed of, struct weft_attribute *attribute)
{
    if (attribute->deleting)
        return weft_error_set(MPI_ERR_KEYVAL,
                              "the delete function of attribute key %d runs for this object, so "
                              "the attribute cannot be deleted or replaced until it has returned",
                              attribute->keyval->number);
    attribute->deleting = true;
    int code = call_delete(of, attribute);
    attribute->deleting = false;
    if (code == MPI_SUCCESS)
        remove_attribute(of, attribute); /* the callback may have changed the list */
    return code;
}

int weft_attribute_set(struct weft_attributed of, struct weft_keyval *keyval, void *value)
{
    struct weft_attribute *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for another attribute");
    keyval->refs++;
    struct weft_attribute *old = find_attribute(of, keyval);
    int code = old ? delete_attribute(of, old) : MPI_SUCCESS;
    if (code != MPI_SUCCESS) {
        release_keyval(keyval);
        free(fresh);
        return code;
    }
    *fresh = (struct weft_attribute){.next = *of.list, .keyval = keyval, .value = value};
    *of.list = fresh;
    return MPI_SUCCESS;
}

int weft_attribute_check_free(struct weft_attributed of, int errclass, const char *action)
{
    return weft_callback_check(of.list, errclass, action);
}

int weft_attribute_delete_one(struct weft_attributed of, struct weft_keyval *keyval)
{
    struct weft_attribute *attribute = find_attribute(of, keyval);
    if (!attribute)
        return weft_error_set(MPI_ERR_KEYVAL, "no attribute with key %d is set on the object",
                              keyval->number);
    return delete_attribute(of, attribute);
}

int weft_attribute_delete_all(struct weft_attributed of)
{
    while (*of.list) {
        int code = delete_attribute(of, *of.list);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

int weft_attribute_delete_finally(struct weft_attributed of)
{
    int failed = MPI_SUCCESS;
    while (*of.list) {
        struct weft_attribute *attribute = *of.list;
        int code = delete_attribute(of, attribute);
        if (code == MPI_SUCCESS)
            continue;
        failed = code;
        remove_attribute(of, attribute);
    }
    return failed;
}

void weft_attribute_free_all(struct weft_attribute **list)
{
    while (*list) {
        struct weft_attribute *attribute = *list;
        *list = attribute->next;
        release_keyval(attribute->keyval);
        free(attribute);
    }
}

/* Copies in reverse list order, so that the copies are in the same order. A copy function may
 * delete any attribute of the object; one that is removed before its turn is not copied. */
static int copy_from(struct weft_attribute *attribute, struct weft_attributed from,
                     struct weft_attributed to)
{
    void *value;
    int flag = 0;
    attribute->pins++;
    int code = attribute->next ? copy_from(attribute->next, from, to) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && !attribute->removed)
        code = call_copy(from, attribute, &value, &flag);
    if (code == MPI_SUCCESS && flag)
        code = weft_attribute_set(to, attribute->keyval, value);
    weft_assert(attribute->pins > 0);
    attribute->pins--;
    free_unpinned(attribute);
    return code;
}

int weft_attribute_copy_all(struct weft_attributed from, struct weft_attributed to)
{
    return *from.list ? copy_from(*from.list, from, to) : MPI_SUCCESS;
}
