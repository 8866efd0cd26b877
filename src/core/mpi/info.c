// SPDX-License-Identifier: BSD-3-Clause
/*
 * Info objects (MPI 5.0 chapter 10): checks and steps of entry points in abi/entry_points.txt.
 */
#include "core/mpi/entry.h"
#include "core/base/info.h"
#include "core/base/settings.h"
#include "pmix/boot.h"

#include <string.h>

int weft_mpi_check_key(const char *key)
{
    if (!key)
        return weft_error_set(MPI_ERR_INFO_KEY, "the key is a null pointer");
    if (!*key || strnlen(key, MPI_MAX_INFO_KEY) >= MPI_MAX_INFO_KEY)
        return weft_error_set(MPI_ERR_INFO_KEY, "the key is %s; it can have 1 to %d characters",
                              *key ? "too long" : "empty", MPI_MAX_INFO_KEY - 1);
    return MPI_SUCCESS;
}

int weft_mpi_check_value(const char *value)
{
    return value ? MPI_SUCCESS : weft_error_set(MPI_ERR_INFO_VALUE, "the value is a null pointer");
}

int weft_mpi_info_create_env(int argc, char *argv[], struct weft_info **made)
{
    char why[256];
    struct weft_info *info = weft_info_make();
    if (weft.job.size == 0) /* before MPI has begun, which reports errors of the environment */
        weft_settings_load(why, sizeof why);
    int size = weft.job.size > 0 ? weft.job.size : weft_boot_expected_size();
    int code = info ? weft_info_fill_env(info, size, argc, argv) : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        *made = info;
    else
        weft_info_free(info);
    return code;
}

int weft_mpi_info_delete(struct weft_info *info, const char *key)
{
    if (weft_info_delete(info, key))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_INFO_NOKEY, "the info object has no key %s", key);
}

/* The value of a key, for a call that returns in *flag whether there is one. */
static const char *look_up(const struct weft_info *info, const char *key, int *flag)
{
    const char *value = weft_info_get(info, key);
    *flag = value != NULL;
    return value;
}

/* Copies at most `most` characters and an end. */
static void copy_value(const char *value, int most, char *to)
{
    size_t bytes = strnlen(value, (size_t)most);
    memcpy(to, value, bytes);
    to[bytes] = '\0';
}

static int check_length(int length)
{
    if (length >= 0)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ARG, "the length %d is negative", length);
}

int weft_mpi_info_get(struct weft_info *info, const char *key, int length, char *value, int *flag)
{
    const char *found = look_up(info, key, flag);
    int code = found ? check_length(length) : MPI_SUCCESS;
    if (found && !code)
        copy_value(found, length, value);
    return code;
}

int weft_mpi_info_get_valuelen(struct weft_info *info, const char *key, int *length, int *flag)
{
    const char *found = look_up(info, key, flag);
    if (found)
        *length = (int)strlen(found);
    return MPI_SUCCESS;
}

int weft_mpi_info_get_string(struct weft_info *info, const char *key, int *space, char *value,
                             int *flag)
{
    const char *found = look_up(info, key, flag);
    int code = check_length(*space);
    if (!code)
        code = weft_arg_result(*space == 0 || value, "value");
    if (code || !found)
        return code;
    if (*space > 0)
        copy_value(found, *space - 1, value);
    *space = (int)strlen(found) + 1;
    return MPI_SUCCESS;
}

int weft_mpi_info_get_nthkey(struct weft_info *info, int n, char *key)
{
    if (n < 0 || n >= info->count)
        return weft_error_set(MPI_ERR_ARG, "there is no key %d; the info object has %d", n,
                              info->count);
    memcpy(key, info->entries[n].key, strlen(info->entries[n].key) + 1);
    return MPI_SUCCESS;
}
