// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T: performance variables (MPI 5.0 section 15.3.7). What they are stands in core/tool/pvar.h.
 *
 * Invariant: a session is looked up before a handle, and a handle in its session only.
 */
#include "core/mpi/api.h"
#include "core/tool/pvar.h"
#include "core/process/weft.h"

#include <string.h>

static bool is_index(int index)
{
    return index >= 0 && index < weft_pvar_count;
}

WEFT_EXPORT(T_pvar_get_num);
int PMPI_T_pvar_get_num(int *num_pvar)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!num_pvar)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *num_pvar = weft_pvar_count;
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_pvar_get_info);
int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!is_index(pvar_index))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    const struct weft_pvar_row *row = &weft_pvar_table[pvar_index];
    weft_tool_string(row->name, name, name_len);
    weft_tool_string(row->help, desc, desc_len);
    weft_tool_set(verbosity, row->all ? MPI_T_VERBOSITY_TUNER_DETAIL : MPI_T_VERBOSITY_TUNER_BASIC);
    weft_tool_set(var_class, row->class);
    weft_tool_set(bind, weft_pvar_of_ranks(row) ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    weft_tool_set(readonly, !weft_pvar_resets(row));
    weft_tool_set(continuous, !weft_pvar_sums(row));
    weft_tool_set(atomic, weft_pvar_resets(row));
    if (datatype)
        *datatype = weft_pvar_type(row);
    if (enumtype)
        *enumtype =
            row->class == MPI_T_PVAR_CLASS_STATE ? weft_tool_enum_of_state() : MPI_T_ENUM_NULL;
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_pvar_get_index);
int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!name || !pvar_index)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    for (int i = 0; i < weft_pvar_count; i++) {
        const struct weft_pvar_row *row = &weft_pvar_table[i];
        if (row->class == var_class && strcmp(row->name, name) == 0) {
            *pvar_index = i;
            return weft_tool_leave(MPI_SUCCESS);
        }
    }
    return weft_tool_leave(MPI_T_ERR_INVALID_NAME);
}

/* ---- Sessions */

WEFT_EXPORT(T_pvar_session_create);
int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    return weft_tool_leave(session ? weft_pvar_session_make(session) : MPI_T_ERR_INVALID);
}

WEFT_EXPORT(T_pvar_session_free);
int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    struct weft_pvar_session *found = session ? weft_pvar_session_find(*session) : NULL;
    if (!found)
        return weft_tool_leave(MPI_T_ERR_INVALID_SESSION);
    weft_pvar_session_free(found);
    *session = MPI_T_PVAR_SESSION_NULL;
    return weft_tool_leave(MPI_SUCCESS);
}

/* ---- Handles */

/* Enters with a session. */
static int enter(MPI_T_pvar_session session, struct weft_pvar_session **found)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    *found = weft_pvar_session_find(session);
    return *found ? MPI_SUCCESS : weft_tool_leave(MPI_T_ERR_INVALID_SESSION);
}

/* The same and a handle. */
static int enter_with(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                      struct weft_pvar_handle **found)
{
    struct weft_pvar_session *in;
    int code = enter(session, &in);
    if (code)
        return code;
    *found = weft_pvar_find(in, handle);
    return *found ? MPI_SUCCESS : weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
}

WEFT_EXPORT(T_pvar_handle_alloc);
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    struct weft_pvar_session *in;
    int code = enter(session, &in);
    if (code)
        return code;
    if (!is_index(pvar_index))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    if (!handle || !count)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    return weft_tool_leave(weft_pvar_make(in, pvar_index, obj_handle, handle, count));
}

WEFT_EXPORT(T_pvar_handle_free);
int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    struct weft_pvar_session *in;
    int code = enter(session, &in);
    if (code)
        return code;
    struct weft_pvar_handle *found = handle ? weft_pvar_find(in, *handle) : NULL;
    if (!found)
        return weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
    weft_pvar_free(in, found);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return weft_tool_leave(MPI_SUCCESS);
}

/* A deed to one handle, or to all of a session that can. */
static int deed_to(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                   int (*deed)(struct weft_pvar_handle *))
{
    struct weft_pvar_session *in;
    int code = enter(session, &in);
    if (code)
        return code;
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        weft_pvar_each(in, deed);
        return weft_tool_leave(MPI_SUCCESS);
    }
    struct weft_pvar_handle *found = weft_pvar_find(in, handle);
    return weft_tool_leave(found ? deed(found) : MPI_T_ERR_INVALID_HANDLE);
}

WEFT_EXPORT(T_pvar_start);
int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return deed_to(session, handle, weft_pvar_start);
}

WEFT_EXPORT(T_pvar_stop);
int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return deed_to(session, handle, weft_pvar_stop);
}

WEFT_EXPORT(T_pvar_reset);
int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return deed_to(session, handle, weft_pvar_reset);
}

WEFT_EXPORT(T_pvar_read);
int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct weft_pvar_handle *found;
    int code = enter_with(session, handle, &found);
    if (code)
        return code;
    return weft_tool_leave(buf ? weft_pvar_read(found, buf) : MPI_T_ERR_INVALID);
}

WEFT_EXPORT(T_pvar_write);
int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    struct weft_pvar_handle *found;
    int code = enter_with(session, handle, &found);
    if (code)
        return code;
    return weft_tool_leave(buf ? weft_pvar_write(found, buf) : MPI_T_ERR_INVALID);
}

/* Nothing comes between the two: what is read is what the variable was when it was reset. */
WEFT_EXPORT(T_pvar_readreset);
int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    struct weft_pvar_handle *found;
    int code = enter_with(session, handle, &found);
    if (code)
        return code;
    if (!buf)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    return weft_tool_leave(weft_pvar_read_and_reset(found, buf));
}
