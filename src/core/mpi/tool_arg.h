// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks of the arguments of MPI_T functions. They return MPI_SUCCESS or an error code of MPI_T;
 * there are no sentences, as no error handler is called (MPI 5.0 section 15.3).
 */
#ifndef WEFT_TOOL_ARG_H
#define WEFT_TOOL_ARG_H

#include "core/base/settings.h"
#include "core/tool/category.h"
#include "core/tool/cvar.h"
#include "core/tool/event.h"
#include "core/tool/pvar.h"
#include "core/tool/tool.h"

/* A pointer that must not be null. */
static inline int weft_tool_given(bool given)
{
    return given ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

/* An index into so many. */
static inline int weft_tool_index(int index, size_t count)
{
    return index >= 0 && (size_t)index < count ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

static inline int weft_tool_found(const void *object)
{
    return object ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

static inline int weft_tool_arg_enum(MPI_T_enum handle, const struct weft_tool_enum **out)
{
    return weft_tool_found(*out = weft_tool_enum_of(handle));
}

static inline int weft_tool_arg_cvar(MPI_T_cvar_handle handle, struct weft_cvar_handle **out)
{
    return weft_tool_found(*out = weft_cvar_find(handle));
}

static inline int weft_tool_arg_session(MPI_T_pvar_session handle, struct weft_pvar_session **out)
{
    *out = weft_pvar_session_find(handle);
    return *out ? MPI_SUCCESS : MPI_T_ERR_INVALID_SESSION;
}

/* A handle of one session. */
static inline int weft_tool_arg_pvar(struct weft_pvar_session *session, MPI_T_pvar_handle handle,
                                     struct weft_pvar_handle **out)
{
    return weft_tool_found(*out = weft_pvar_find(session, handle));
}

static inline int weft_tool_arg_registration(MPI_T_event_registration handle,
                                             struct weft_event_registration **out)
{
    return weft_tool_found(*out = weft_event_registration_find(handle));
}

static inline int weft_tool_arg_instance(MPI_T_event_instance handle,
                                         struct weft_event_instance **out)
{
    return weft_tool_found(*out = weft_event_instance_find(handle));
}

/* MPI_INFO_NULL, or an info object. No hint is known. */
int weft_tool_arg_info(MPI_Info info);

#endif
