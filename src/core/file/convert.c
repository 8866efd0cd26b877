// SPDX-License-Identifier: BSD-3-Clause
/*
 * Data representations (MPI 5.0, section 14.5): external32 and those of MPI_Register_datarep.
 *
 * The types of a view are built again from their envelopes, with basic types of the size that they
 * have in the file. The data of an access are converted in memory of its own, and moved as bytes.
 *
 * Invariants:
 *  - An access in another representation has the type MPI_BYTE and memory of malloc between
 *    weft_file_convert and weft_file_convert_back.
 *  - A type with the same sizes in memory and in the file is its own type of the file.
 *  - At the end of the file a read gives all complete basic elements, also those of an incomplete
 * type.
 */
#include "core/file/file.h"
#include "core/base/error.h"
#include "core/message/process.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_file_form native = {.name = "native"}, internal = {.name = "internal"},
                                   external32 = {.name = "external32"};

bool weft_file_converts(const struct weft_file_form *form)
{
    return form != &native && form != &internal;
}

const struct weft_file_form *weft_file_find_form(const char *name)
{
    static const struct weft_file_form *const forms[] = {&native, &internal, &external32};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i]->name))
            return forms[i];
    for (const struct weft_file_form *form = weft.file_forms; form; form = form->next)
        if (!strcmp(name, form->name))
            return form;
    return NULL;
}

int weft_file_add_form(const char *name, const struct weft_file_form *functions)
{
    if (!name || strlen(name) >= MPI_MAX_DATAREP_STRING || !functions->extent)
        return weft_error_set(MPI_ERR_ARG, "the name of the data representation is a null pointer "
                                           "or too long, or its extent function is one");
    if (weft_file_find_form(name))
        return weft_error_set(MPI_ERR_DUP_DATAREP, "the data representation \"%s\" exists already",
                              name);
    struct weft_file_form *form = malloc(sizeof *form);
    if (!form)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for another data representation");
    *form = *functions;
    strcpy(form->name, name);
    form->next = weft.file_forms;
    weft.file_forms = form;
    return MPI_SUCCESS;
}

void weft_file_free_forms(void)
{
    while (weft.file_forms) {
        struct weft_file_form *form = weft.file_forms;
        weft.file_forms = form->next;
        free(form);
    }
}

/* ---- Types of the file */

static int no_memory(const struct weft_file_form *form)
{
    return weft_error_set(MPI_ERR_NO_MEM, "no memory for a type or data in \"%s\"", form->name);
}

static int scale_predefined(const struct weft_file_form *form, struct weft_datatype *type,
                            struct weft_datatype **scaled)
{
    MPI_Aint bytes = type->signature ? (MPI_Aint)type->signature->external : 0;
    int code = form->extent ? form->extent(type->handle, &bytes, form->extra) : MPI_SUCCESS;
    if (code != MPI_SUCCESS || bytes < 0 || bytes > INT_MAX)
        return weft_error_set(MPI_ERR_CONVERSION,
                              "the extent function of the data representation \"%s\" failed for %s",
                              form->name, type->name);
    if ((size_t)bytes == type->size) {
        *scaled = type;
        return MPI_SUCCESS;
    }
    struct weft_envelope *envelope = weft_envelope_new(MPI_COMBINER_CONTIGUOUS, 1, 0, 0, 1);
    if (!envelope)
        return no_memory(form);
    envelope->integers[0] = (int)bytes;
    envelope->types[0] = (struct weft_datatype *)weft_datatype_byte();
    return weft_datatype_make(envelope, scaled);
}

static void copy(void *to, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy(to, from, count * size);
}

static int scale_derived(const struct weft_file_form *form, struct weft_datatype *type,
                         struct weft_datatype **scaled)
{
    const struct weft_envelope *old = type->envelope;
    struct weft_envelope *envelope =
        weft_envelope_new(old->combiner, old->nintegers, old->naddresses, old->nlarge, old->ntypes);
    bool same = true;
    int code = MPI_SUCCESS;
    size_t n = 0;
    if (!envelope)
        return no_memory(form);
    copy(envelope->integers, old->integers, old->nintegers, sizeof *old->integers);
    copy(envelope->addresses, old->addresses, old->naddresses, sizeof *old->addresses);
    copy(envelope->large, old->large, old->nlarge, sizeof *old->large);
    for (; n < old->ntypes && code == MPI_SUCCESS; n += code == MPI_SUCCESS) {
        code = weft_file_scale(form, old->types[n], &envelope->types[n]);
        same = same && envelope->types[n] == old->types[n];
    }
    if (code == MPI_SUCCESS && !same)
        return weft_datatype_make(envelope, scaled);
    for (size_t i = 0; i < n; i++)
        weft_datatype_release(envelope->types[i]);
    free(envelope);
    if (code == MPI_SUCCESS) {
        weft_datatype_retain(type);
        *scaled = type;
    }
    return code;
}

int weft_file_scale(const struct weft_file_form *form, const struct weft_datatype *type,
                    struct weft_datatype **scaled)
{
    struct weft_datatype *from = (struct weft_datatype *)type;
    if (weft_file_converts(form) && !(type->flags & WEFT_TYPE_PREDEFINED))
        return scale_derived(form, from, scaled);
    if (weft_file_converts(form))
        return scale_predefined(form, from, scaled);
    weft_datatype_retain(type);
    *scaled = from;
    return MPI_SUCCESS;
}

/* ---- Data of an access */

/* Calls a function whose count is an int for n basic elements, `per` of them in an element of the
 * type, which has `each` bytes in the file: for as many complete elements at a time as an int can
 * count. */
static int call_repeatedly(MPI_Datarep_conversion_function *function, void *extra,
                           const struct weft_file_data *user, MPI_Count n, MPI_Count per,
                           size_t each, char *memory)
{
    MPI_Count most = n <= INT_MAX ? n : INT_MAX / per * per, count;
    int code = MPI_SUCCESS;
    weft_assert(most > 0);
    for (MPI_Count done = 0; done < n && code == MPI_SUCCESS; done += count) {
        count = n - done < most ? n - done : most;
        code = function(user->buffer, user->type->handle, (int)count,
                        memory + (size_t)(done / per) * each, done, extra);
    }
    return code;
}

/* Calls the user's function for all basic elements of `bytes` bytes. */
static int call_user(const struct weft_file_form *form, bool write,
                     const struct weft_file_data *user, size_t bytes, size_t each, char *memory)
{
    MPI_Count n = weft_datatype_elements(user->type, bytes);
    MPI_Count per = weft_datatype_elements(user->type, user->type->size);
    MPI_Datarep_conversion_function *function = write ? form->write : form->read;
    MPI_Datarep_conversion_function_c *large = write ? form->write_large : form->read_large;
    if (!large && n > INT_MAX && per > INT_MAX)
        return weft_error_set(MPI_ERR_CONVERSION,
                              "an element of the datatype has %lld basic elements, more than the "
                              "count of a function of the data representation \"%s\" can be; pass "
                              "a smaller datatype, or use MPI_Register_datarep_c",
                              (long long)per, form->name);
    int code = large ? large(user->buffer, user->type->handle, n, memory, 0, form->extra)
                     : call_repeatedly(function, form->extra, user, n, per, each, memory);
    if (code == MPI_SUCCESS)
        return code;
    return weft_error_set(MPI_ERR_CONVERSION,
                          "the conversion of %lld elements to or from the data representation "
                          "\"%s\" failed",
                          (long long)n, form->name);
}

/* Converts `bytes` bytes of data in memory; each: bytes of an element of the type in the file. */
static int convert(const struct weft_file_form *form, bool write, const struct weft_file_data *user,
                   size_t bytes, size_t each, void *memory)
{
    bool called = write ? form->write || form->write_large : form->read || form->read_large;
    if (!bytes)
        return MPI_SUCCESS;
    if (called)
        return call_user(form, write, user, bytes, each, memory);
    if (form == &external32 && write)
        weft_datatype_pack_external(user->type, user->buffer, bytes / user->type->size, memory);
    else if (form == &external32)
        weft_datatype_unpack_external(user->type, user->buffer, bytes, memory);
    else if (each != user->type->size)
        return weft_error_set(MPI_ERR_CONVERSION,
                              "the data representation \"%s\" has other sizes, and no function to "
                              "convert them",
                              form->name);
    else if (write)
        weft_datatype_pack(user->type, user->buffer, 0, memory, bytes);
    else
        weft_datatype_unpack(user->type, user->buffer, 0, memory, bytes);
    return MPI_SUCCESS;
}

/* ---- An incomplete element of a type, at the end of the file */

/* The data of an element: bytes that are left in the file, and bytes in memory so far. */
struct prefix {
    const struct weft_file_form *form;
    const struct weft_datatype *type;
    size_t left, bytes;
};

/* The predefined type in a type that has this basic element, or NULL. */
static const struct weft_datatype *find_basic(const struct weft_datatype *type,
                                              const struct weft_basic *basic)
{
    const struct weft_datatype *found = NULL;
    if (!type->envelope)
        return type->signature && !memcmp(&type->signature->basic, basic, sizeof *basic) ? type
                                                                                         : NULL;
    for (size_t i = 0; i < type->envelope->ntypes && !found; i++)
        found = find_basic(type->envelope->types[i], basic);
    return found;
}

/* The bytes of a basic element in the file; 0: unknown. */
static size_t bytes_in_file(const struct prefix *prefix, const struct weft_basic *basic)
{
    if (prefix->form == &external32)
        return basic->external;
    const struct weft_datatype *type = find_basic(prefix->type, basic);
    struct weft_datatype *scaled;
    if (!type || weft_file_scale(prefix->form, type, &scaled) != MPI_SUCCESS)
        return 0;
    size_t bytes = scaled->size;
    weft_datatype_release(scaled);
    return bytes;
}

/* Adds the complete basic elements of a signature. False: no further one is complete. */
static bool add_elements(struct prefix *prefix, const struct weft_signature *signature)
{
    if (signature->basic.size) {
        size_t each = bytes_in_file(prefix, &signature->basic), n = each ? prefix->left / each : 0;
        n = n < signature->count ? n : signature->count;
        prefix->left -= n * each;
        prefix->bytes += n * signature->basic.size;
        return n == signature->count;
    }
    for (size_t i = 0; i < signature->count; i++)
        if (!add_elements(prefix, signature->body ? signature->body : signature->entries[i]))
            return false;
    return true;
}

/* The bytes in memory of all complete basic elements in `moved` bytes of the file. */
static size_t bytes_in_memory(const struct weft_file_form *form, const struct weft_file_data *user,
                              size_t each, size_t moved)
{
    struct prefix prefix = {.form = form, .type = user->type};
    if (!each)
        return user->bytes;
    prefix.left = moved % each;
    if (prefix.left)
        add_elements(&prefix, user->type->signature);
    return moved / each * user->type->size + prefix.bytes;
}

/* ---- Accesses */

int weft_file_convert(const struct weft_file *file, bool write, struct weft_file_data *data,
                      struct weft_file_data *user)
{
    const struct weft_file_form *form = file->view.form;
    struct weft_datatype *scaled;
    user->type = NULL;
    if (!weft_file_converts(form) || !data->bytes)
        return MPI_SUCCESS;
    size_t count = data->bytes / data->type->size, bytes;
    int code = weft_file_scale(form, data->type, &scaled);
    if (code != MPI_SUCCESS)
        return code;
    size_t each = scaled->size;
    bool large = __builtin_mul_overflow(count, each, &bytes);
    weft_datatype_release(scaled);
    void *memory = large ? NULL : malloc(bytes ? bytes : 1);
    if (!memory)
        return no_memory(form);
    *user = *data;
    data->type = weft_datatype_byte();
    data->buffer = memory;
    data->bytes = bytes;
    return write ? convert(form, true, user, user->bytes, each, memory) : MPI_SUCCESS;
}

int weft_file_convert_back(const struct weft_file *file, bool write, struct weft_file_data *data,
                           const struct weft_file_data *user, size_t *moved)
{
    int code = MPI_SUCCESS;
    if (!user->type)
        return code;
    size_t each = data->bytes / (user->bytes / user->type->size);
    *moved = bytes_in_memory(file->view.form, user, each, *moved);
    if (!write)
        code = convert(file->view.form, false, user, *moved, each, data->buffer);
    free(data->buffer);
    return code;
}
