// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T: control variables (MPI 5.0 section 15.3.6). Each row of the table of settings is one, named
 * like its environment variable.
 *
 * Invariant: as everywhere in MPI_T, what goes wrong is a code, and no error handler hears of it.
 */
#include "core/mpi/api.h"
#include "core/object/settings.h"
#include "core/tool/cvar.h"
#include "core/process/weft.h"

#include <string.h>

enum { NAME_ROOM = 64 };

static bool is_index(int index)
{
    return index >= 0 && (size_t)index < weft_settings_count;
}

WEFT_EXPORT(T_cvar_get_num);
int PMPI_T_cvar_get_num(int *num_cvar)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!num_cvar)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *num_cvar = (int)weft_settings_count;
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_cvar_get_info);
int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *scope)
{
    char variable[NAME_ROOM];
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!is_index(cvar_index))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    const struct weft_setting *row = &weft_settings_table[cvar_index];
    weft_tool_string(weft_settings_variable(row, variable, sizeof variable), name, name_len);
    weft_tool_string(row->help, desc, desc_len);
    weft_tool_set(verbosity, row->flags & WEFT_SETTING_TUNES ? MPI_T_VERBOSITY_TUNER_BASIC
                                                             : MPI_T_VERBOSITY_USER_BASIC);
    weft_tool_set(bind, MPI_T_BIND_NO_OBJECT);
    weft_tool_set(scope, row->flags & WEFT_SETTING_SAME ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL);
    if (datatype)
        *datatype = weft_cvar_type(row);
    if (enumtype)
        *enumtype = weft_tool_enum_of_setting(cvar_index);
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_cvar_get_index);
int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    char variable[NAME_ROOM];
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!name || !cvar_index)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    for (size_t i = 0; i < weft_settings_count; i++) {
        const struct weft_setting *row = &weft_settings_table[i];
        if (strcmp(weft_settings_variable(row, variable, sizeof variable), name) == 0) {
            *cvar_index = (int)i;
            return weft_tool_leave(MPI_SUCCESS);
        }
    }
    return weft_tool_leave(MPI_T_ERR_INVALID_NAME);
}

WEFT_EXPORT(T_cvar_handle_alloc);
int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    (void)obj_handle; /* no variable is bound to an object */
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!is_index(cvar_index))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    if (!handle || !count)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    return weft_tool_leave(weft_cvar_make(&weft_settings_table[cvar_index], handle, count));
}

WEFT_EXPORT(T_cvar_handle_free);
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    struct weft_cvar_handle *found = handle ? weft_cvar_find(*handle) : NULL;
    if (!found)
        return weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
    weft_cvar_free(found);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return weft_tool_leave(MPI_SUCCESS);
}

/* Enters with a handle. */
static int enter_with(MPI_T_cvar_handle handle, const struct weft_cvar_handle **found)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    *found = weft_cvar_find(handle);
    return *found ? MPI_SUCCESS : weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
}

WEFT_EXPORT(T_cvar_read);
int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    const struct weft_cvar_handle *cvar;
    int code = enter_with(handle, &cvar);
    if (code)
        return code;
    if (!buf)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    weft_cvar_read(cvar, buf);
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_cvar_write);
int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    const struct weft_cvar_handle *cvar;
    int code = enter_with(handle, &cvar);
    if (code)
        return code;
    return weft_tool_leave(buf ? weft_cvar_write(cvar, buf) : MPI_T_ERR_INVALID);
}
