// SPDX-License-Identifier: BSD-3-Clause
/*
 * Info objects (MPI 5.0 chapter 10), and those of communicators (section 7.4.4). The former may be
 * made and used at any time, by any thread.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/error.h"
#include "core/object/info.h"
#include "core/process/weft.h"

#include <string.h>

/* Enters, and resolves an info object. NULL after leaving again; *code is to be returned. */
static struct weft_info *enter(const char *function, MPI_Info handle, bool change, int *code)
{
    weft_enter_anytime();
    *code = MPI_SUCCESS;
    struct weft_info *info = weft_info_resolve(handle);
    if (!info)
        *code = weft_error(NULL, MPI_ERR_INFO, function, "%p is no info object; was it freed?",
                           (void *)handle);
    else if (change && info->predefined)
        *code = weft_error(NULL, MPI_ERR_INFO, function, "MPI_INFO_ENV cannot be changed");
    else
        return info;
    weft_leave_anytime();
    return NULL;
}

static int leave(int code, const char *function)
{
    if (code != MPI_SUCCESS)
        code = weft_error_raise(NULL, code, function);
    weft_leave_anytime();
    return code;
}

static int null_pointer(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the pointer to the %s is null", what);
}

static int bad_key(const char *key)
{
    if (!key)
        return weft_error_set(MPI_ERR_INFO_KEY, "the key is a null pointer");
    if (!*key || strnlen(key, MPI_MAX_INFO_KEY) >= MPI_MAX_INFO_KEY)
        return weft_error_set(MPI_ERR_INFO_KEY, "the key is %s; it can have 1 to %d characters",
                              *key ? "too long" : "empty", MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Info_create);
int PMPI_Info_create(MPI_Info *handle)
{
    weft_enter_anytime();
    struct weft_info *info = handle ? weft_info_make() : NULL;
    int code = handle ? info ? MPI_SUCCESS : MPI_ERR_NO_MEM : null_pointer("info object");
    if (info)
        *handle = (MPI_Info)info;
    return leave(code, "MPI_Info_create");
}

WEFT_EXPORT(Info_create_env);
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *handle)
{
    weft_enter_anytime();
    struct weft_info *info = handle ? weft_info_make() : NULL;
    int code = handle ? info ? weft_info_fill_env(info, argc, argv) : MPI_ERR_NO_MEM
                      : null_pointer("info object");
    if (info && code == MPI_SUCCESS)
        *handle = (MPI_Info)info;
    else
        weft_info_free(info);
    return leave(code, "MPI_Info_create_env");
}

WEFT_EXPORT(Info_dup);
int PMPI_Info_dup(MPI_Info handle, MPI_Info *copy)
{
    const char *function = "MPI_Info_dup";
    int code;
    const struct weft_info *info = enter(function, handle, false, &code);
    if (!info)
        return code;
    struct weft_info *made = copy ? weft_info_dup(info) : NULL;
    code = copy ? made ? MPI_SUCCESS : MPI_ERR_NO_MEM : null_pointer("copy");
    if (made)
        *copy = (MPI_Info)made;
    return leave(code, function);
}

WEFT_EXPORT(Info_free);
int PMPI_Info_free(MPI_Info *handle)
{
    const char *function = "MPI_Info_free";
    int code;
    struct weft_info *info = enter(function, handle ? *handle : MPI_INFO_NULL, true, &code);
    if (!info)
        return code;
    weft_info_free(info);
    *handle = MPI_INFO_NULL;
    return leave(MPI_SUCCESS, function);
}

WEFT_EXPORT(Info_set);
int PMPI_Info_set(MPI_Info handle, const char *key, const char *value)
{
    const char *function = "MPI_Info_set";
    int code;
    struct weft_info *info = enter(function, handle, true, &code);
    if (!info)
        return code;
    code = bad_key(key);
    if (code == MPI_SUCCESS)
        code = value ? weft_info_set(info, key, value)
                     : weft_error_set(MPI_ERR_INFO_VALUE, "the value is a null pointer");
    return leave(code, function);
}

WEFT_EXPORT(Info_delete);
int PMPI_Info_delete(MPI_Info handle, const char *key)
{
    const char *function = "MPI_Info_delete";
    int code;
    struct weft_info *info = enter(function, handle, true, &code);
    if (!info)
        return code;
    code = bad_key(key);
    if (code == MPI_SUCCESS && !weft_info_delete(info, key))
        code = weft_error_set(MPI_ERR_INFO_NOKEY, "the info object has no key %s", key);
    return leave(code, function);
}

/* The value of a key, for a call that tells whether there is one. NULL: there is none, or *code is
 * an error. */
static const char *look_up(const struct weft_info *info, const char *key, int *flag, int *code)
{
    *code = flag ? bad_key(key) : null_pointer("flag");
    if (*code != MPI_SUCCESS)
        return NULL;
    const char *value = weft_info_get(info, key);
    *flag = value != NULL;
    return value;
}

WEFT_EXPORT(Info_get);
int PMPI_Info_get(MPI_Info handle, const char *key, int valuelen, char *value, int *flag)
{
    const char *function = "MPI_Info_get";
    int code;
    const struct weft_info *info = enter(function, handle, false, &code);
    if (!info)
        return code;
    const char *found = look_up(info, key, flag, &code);
    if (found && (valuelen < 0 || !value))
        code = value ? weft_error_set(MPI_ERR_ARG, "the length %d is negative", valuelen)
                     : null_pointer("value");
    else if (found) {
        size_t bytes = strnlen(found, (size_t)valuelen);
        memcpy(value, found, bytes);
        value[bytes] = '\0';
    }
    return leave(code, function);
}

WEFT_EXPORT(Info_get_valuelen);
int PMPI_Info_get_valuelen(MPI_Info handle, const char *key, int *valuelen, int *flag)
{
    const char *function = "MPI_Info_get_valuelen";
    int code;
    const struct weft_info *info = enter(function, handle, false, &code);
    if (!info)
        return code;
    const char *found = look_up(info, key, flag, &code);
    if (found && !valuelen)
        code = null_pointer("length");
    else if (found)
        *valuelen = (int)strlen(found);
    return leave(code, function);
}

WEFT_EXPORT(Info_get_string);
int PMPI_Info_get_string(MPI_Info handle, const char *key, int *buflen, char *value, int *flag)
{
    const char *function = "MPI_Info_get_string";
    int code;
    const struct weft_info *info = enter(function, handle, false, &code);
    if (!info)
        return code;
    const char *found = look_up(info, key, flag, &code);
    if (found && (!buflen || *buflen < 0 || (*buflen > 0 && !value))) {
        code = !buflen       ? null_pointer("length")
               : *buflen < 0 ? weft_error_set(MPI_ERR_ARG, "the length %d is negative", *buflen)
                             : null_pointer("value");
    } else if (found) {
        if (*buflen > 0) {
            size_t bytes = strnlen(found, (size_t)*buflen - 1);
            memcpy(value, found, bytes);
            value[bytes] = '\0';
        }
        *buflen = (int)strlen(found) + 1;
    }
    return leave(code, function);
}

WEFT_EXPORT(Info_get_nkeys);
int PMPI_Info_get_nkeys(MPI_Info handle, int *nkeys)
{
    const char *function = "MPI_Info_get_nkeys";
    int code;
    const struct weft_info *info = enter(function, handle, false, &code);
    if (!info)
        return code;
    if (nkeys)
        *nkeys = info->count;
    else
        code = null_pointer("number of keys");
    return leave(code, function);
}

WEFT_EXPORT(Info_get_nthkey);
int PMPI_Info_get_nthkey(MPI_Info handle, int n, char *key)
{
    const char *function = "MPI_Info_get_nthkey";
    int code;
    const struct weft_info *info = enter(function, handle, false, &code);
    if (!info)
        return code;
    if (!key)
        code = null_pointer("key");
    else if (n < 0 || n >= info->count)
        code = weft_error_set(MPI_ERR_ARG, "there is no key %d; the info object has %d", n,
                              info->count);
    else
        memcpy(key, info->entries[n].key, strlen(info->entries[n].key) + 1);
    return leave(code, function);
}

/* ---- Of communicators */

/* The info object of a handle that may be MPI_INFO_NULL. False after raising the error. */
static bool optional(struct weft_comm *comm, MPI_Info handle, struct weft_info **info,
                     const char *function)
{
    *info = handle == MPI_INFO_NULL ? NULL : weft_info_resolve(handle);
    if (*info || handle == MPI_INFO_NULL)
        return true;
    weft_error(comm, MPI_ERR_INFO, function, "%p is no info object; was it freed?", (void *)handle);
    return false;
}

WEFT_EXPORT(Comm_set_info);
int PMPI_Comm_set_info(MPI_Comm handle, MPI_Info hints)
{
    const char *function = "MPI_Comm_set_info";
    struct weft_info *info;
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    if (optional(comm, hints, &info, function))
        return weft_leave_with(comm, weft_comm_take_hints(comm, info), function);
    weft_leave();
    return MPI_ERR_INFO;
}

WEFT_EXPORT(Comm_get_info);
int PMPI_Comm_get_info(MPI_Comm handle, MPI_Info *used)
{
    const char *function = "MPI_Comm_get_info";
    int code;
    struct weft_comm *comm = weft_enter_comm(function, handle, &code);
    if (!comm)
        return code;
    struct weft_info *info = used ? weft_comm_hints(comm) : NULL;
    if (info)
        *used = (MPI_Info)info;
    else
        code = used ? MPI_ERR_NO_MEM : null_pointer("info object");
    return weft_leave_with(comm, code, function);
}
