// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T: events and their sources (MPI 5.0 section 15.3.8). How they come stands in
 * core/tool/event.h.
 *
 * Invariant: an instance is valid while its callback runs, a registration until it is freed.
 */
#include "core/mpi/api.h"
#include "core/object/info.h"
#include "core/tool/event.h"
#include "core/process/weft.h"

#include <string.h>

static bool is_index(int index)
{
    return index >= 0 && index < WEFT_EVENTS;
}

/* ---- Sources: one, a clock */

WEFT_EXPORT(T_source_get_num);
int PMPI_T_source_get_num(int *num_sources)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!num_sources)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *num_sources = 1;
    return weft_tool_leave(MPI_SUCCESS);
}

/* A new object without hints, if the caller asked for one. Codes of MPI_T. */
static int no_hints(MPI_Info *info)
{
    struct weft_info *made = info ? weft_info_make() : NULL;
    if (!info)
        return MPI_SUCCESS;
    if (!made)
        return MPI_T_ERR_MEMORY;
    *info = (MPI_Info)made;
    return MPI_SUCCESS;
}

/* Whether an info object may be passed. No hint is known. */
static bool is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL || (info && weft_info_resolve(info));
}

WEFT_EXPORT(T_source_get_info);
int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                           MPI_Count *max_ticks, MPI_Info *info)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (source_index != 0)
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    weft_tool_string("weft", name, name_len);
    weft_tool_string("the library, by a clock that only goes forward", desc, desc_len);
    /* Callbacks that had to wait are called after those that did not. */
    if (ordering)
        *ordering = MPI_T_SOURCE_UNORDERED;
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return weft_tool_leave(no_hints(info));
}

WEFT_EXPORT(T_source_get_timestamp);
int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (source_index != 0)
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    if (!timestamp)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *timestamp = weft_event_now();
    return weft_tool_leave(MPI_SUCCESS);
}

/* ---- Types */

WEFT_EXPORT(T_event_get_num);
int PMPI_T_event_get_num(int *num_events)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!num_events)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *num_events = WEFT_EVENTS;
    return weft_tool_leave(MPI_SUCCESS);
}

static void get_elements(int index, MPI_Datatype *types, MPI_Aint *displacements, int *count)
{
    int n = weft_event_count((enum weft_event_type)index);
    int room = count ? *count : 0;
    for (int i = 0; i < n && i < room; i++) {
        if (types)
            types[i] = weft_event_types[index].element[i].type;
        if (displacements)
            displacements[i] = (MPI_Aint)weft_event_displacement((enum weft_event_type)index, i);
    }
    weft_tool_set(count, n);
}

WEFT_EXPORT(T_event_get_info);
int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!is_index(event_index))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    const struct weft_event_row *row = &weft_event_types[event_index];
    weft_tool_string(row->name, name, name_len);
    weft_tool_string(row->help, desc, desc_len);
    weft_tool_set(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    weft_tool_set(bind, MPI_T_BIND_NO_OBJECT);
    get_elements(event_index, array_of_datatypes, array_of_displacements, num_elements);
    if (enumtype)
        *enumtype = weft_tool_enum_of_event(event_index);
    return weft_tool_leave(no_hints(info));
}

WEFT_EXPORT(T_event_get_index);
int PMPI_T_event_get_index(const char *name, int *event_index)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!name || !event_index)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    for (int i = 0; i < WEFT_EVENTS; i++) {
        if (strcmp(weft_event_types[i].name, name) == 0) {
            *event_index = i;
            return weft_tool_leave(MPI_SUCCESS);
        }
    }
    return weft_tool_leave(MPI_T_ERR_INVALID_NAME);
}

/* ---- Registrations */

WEFT_EXPORT(T_event_handle_alloc);
int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    (void)obj_handle; /* no event is bound to an object */
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!is_index(event_index))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    if (!event_registration || !is_info(info))
        return weft_tool_leave(MPI_T_ERR_INVALID);
    return weft_tool_leave(weft_registration_make(event_index, event_registration));
}

/* Enters with a registration. */
static int enter(MPI_T_event_registration handle, struct weft_registration **found)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    *found = weft_registration_find(handle);
    return *found ? MPI_SUCCESS : weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
}

WEFT_EXPORT(T_event_handle_free);
int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    weft_registration_drop(found, user_data, free_cb_function);
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_event_handle_get_info);
int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    return weft_tool_leave(info_used ? no_hints(info_used) : MPI_T_ERR_INVALID);
}

WEFT_EXPORT(T_event_handle_set_info);
int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    return weft_tool_leave(is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}

WEFT_EXPORT(T_event_register_callback);
int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    if (!is_info(info))
        return weft_tool_leave(MPI_T_ERR_INVALID);
    return weft_tool_leave(weft_registration_set(found, cb_safety, user_data, event_cb_function));
}

WEFT_EXPORT(T_event_callback_get_info);
int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    if (!info_used || !weft_registration_has(found, cb_safety))
        return weft_tool_leave(MPI_T_ERR_INVALID);
    return weft_tool_leave(no_hints(info_used));
}

WEFT_EXPORT(T_event_callback_set_info);
int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    bool good = is_info(info) && weft_registration_has(found, cb_safety);
    return weft_tool_leave(good ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}

WEFT_EXPORT(T_event_set_dropped_handler);
int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    struct weft_registration *found;
    int code = enter(event_registration, &found);
    if (code)
        return code;
    weft_registration_on_drop(found, dropped_cb_function);
    return weft_tool_leave(MPI_SUCCESS);
}

/* ---- Instances */

static int enter_instance(MPI_T_event_instance handle, struct weft_instance **found)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    *found = weft_instance_find(handle);
    return *found ? MPI_SUCCESS : weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
}

WEFT_EXPORT(T_event_read);
int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    struct weft_instance *instance;
    int code = enter_instance(event_instance, &instance);
    if (code)
        return code;
    if (element_index < 0 || element_index >= weft_event_count(instance->type))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
    if (!buffer)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    weft_instance_read(instance, element_index, buffer);
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_event_copy);
int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    struct weft_instance *instance;
    int code = enter_instance(event_instance, &instance);
    if (code)
        return code;
    if (!buffer)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    for (int i = 0; i < weft_event_count(instance->type); i++)
        weft_instance_read(instance, i,
                           (char *)buffer + weft_event_displacement(instance->type, i));
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_event_get_timestamp);
int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    struct weft_instance *instance;
    int code = enter_instance(event_instance, &instance);
    if (code)
        return code;
    if (!event_timestamp)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *event_timestamp = instance->when;
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_event_get_source);
int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    struct weft_instance *instance;
    int code = enter_instance(event_instance, &instance);
    if (code)
        return code;
    if (!source_index)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *source_index = 0;
    return weft_tool_leave(MPI_SUCCESS);
}
