// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T (MPI 5.0 section 15.3): what its entry points do beside abi/entry_points.txt.
 *
 * Invariant: errors are codes; no error handler is called.
 */
#include "core/mpi/entry.h"

#include <string.h>

enum { NAME_SPACE = 64 };

int weft_tool_arg_info(MPI_Info info)
{
    return weft_tool_given(info == MPI_INFO_NULL || (info && weft_info_resolve(info)));
}

/* A new object without hints, if the caller passes a pointer for one. */
int weft_mpi_no_hints(MPI_Info *info)
{
    struct weft_info *made = info ? weft_info_make() : NULL;
    if (!info)
        return MPI_SUCCESS;
    if (!made)
        return MPI_T_ERR_MEMORY;
    *info = (MPI_Info)made;
    return MPI_SUCCESS;
}

/* ---- Enumerations and categories */

void weft_mpi_enum_get_item(const struct weft_tool_enum *enumeration, int index, int *value,
                            char *name, int *name_len)
{
    char text[NAME_SPACE];
    int len;
    const char *item = weft_settings_choice(enumeration->items, index, &len);
    weft_assert(len >= 0 && len < NAME_SPACE);
    memcpy(text, item, (size_t)len);
    text[len] = '\0';
    weft_tool_set(value, index);
    weft_tool_string(text, name, name_len);
}

void weft_mpi_category_get_info(int category, char *name, int *name_len, char *desc, int *desc_len,
                                int *num_cvars, int *num_pvars, int *num_categories)
{
    weft_tool_string(weft_categories[category].name, name, name_len);
    weft_tool_string(weft_categories[category].help, desc, desc_len);
    weft_tool_set(num_cvars, weft_category_list(WEFT_CATEGORY_CVARS, category, 0, NULL));
    weft_tool_set(num_pvars, weft_category_list(WEFT_CATEGORY_PVARS, category, 0, NULL));
    weft_tool_set(num_categories, weft_category_list(WEFT_CATEGORY_CATEGORIES, category, 0, NULL));
}

/* The result of a search for a name that ended at i. */
static int found(int i, int count, int *index)
{
    if (i == count)
        return MPI_T_ERR_INVALID_NAME;
    *index = i;
    return MPI_SUCCESS;
}

int weft_mpi_category_get_index(const char *name, int *index)
{
    int i = 0;
    while (i < WEFT_TOOL_CATEGORIES && strcmp(weft_categories[i].name, name) != 0)
        i++;
    return found(i, WEFT_TOOL_CATEGORIES, index);
}

int weft_mpi_category_list(enum weft_category_kind kind, int category, int len, int indices[])
{
    if (len < 0 || (len > 0 && !indices))
        return MPI_T_ERR_INVALID;
    weft_category_list(kind, category, len, indices);
    return MPI_SUCCESS;
}

/* ---- Control variables: each row of the table of settings */

void weft_mpi_cvar_get_info(int index, char *name, int *name_len, int *verbosity,
                            MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                            int *bind, int *scope)
{
    const struct weft_setting *row = &weft_settings_table[index];
    weft_tool_string(row->name, name, name_len);
    weft_tool_string(row->help, desc, desc_len);
    weft_tool_set(verbosity, row->flags & WEFT_SETTING_TUNES ? MPI_T_VERBOSITY_TUNER_BASIC
                                                             : MPI_T_VERBOSITY_USER_BASIC);
    weft_tool_set(bind, MPI_T_BIND_NO_OBJECT);
    weft_tool_set(scope, row->flags & WEFT_SETTING_SAME ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL);
    if (datatype)
        *datatype = weft_cvar_type(row);
    if (enumtype)
        *enumtype = weft_tool_enum_of_setting(index);
}

int weft_mpi_cvar_get_index(const char *name, int *index)
{
    int i = 0, count = (int)weft_settings_count;
    while (i < count && strcmp(weft_settings_table[i].name, name) != 0)
        i++;
    return found(i, count, index);
}

/* ---- Performance variables */

void weft_mpi_pvar_get_info(int index, char *name, int *name_len, int *verbosity, int *var_class,
                            MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                            int *bind, int *readonly, int *continuous, int *atomic)
{
    const struct weft_pvar_row *row = &weft_pvar_table[index];
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
        *enumtype = row->enumeration ? row->enumeration() : MPI_T_ENUM_NULL;
}

int weft_mpi_pvar_get_index(const char *name, int var_class, int *index)
{
    int i = 0;
    while (i < weft_pvar_count &&
           (weft_pvar_table[i].class != var_class || strcmp(weft_pvar_table[i].name, name) != 0))
        i++;
    return found(i, weft_pvar_count, index);
}

/* Starts, stops or resets one variable, or all of a session for which that is possible. */
int weft_mpi_pvar_each(struct weft_pvar_session *session, MPI_T_pvar_handle handle,
                       int (*act)(struct weft_pvar_handle *))
{
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        weft_pvar_each(session, act);
        return MPI_SUCCESS;
    }
    struct weft_pvar_handle *found = weft_pvar_find(session, handle);
    return found ? act(found) : MPI_T_ERR_INVALID_HANDLE;
}

/* ---- Events; their one source is a clock */

int weft_mpi_source_get_info(char *name, int *name_len, char *desc, int *desc_len,
                             MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                             MPI_Count *max_ticks, MPI_Info *info)
{
    weft_tool_string("weft", name, name_len);
    weft_tool_string("the library, by a clock that only goes forward", desc, desc_len);
    /* Deferred callbacks are called after others. */
    if (ordering)
        *ordering = MPI_T_SOURCE_UNORDERED;
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return weft_mpi_no_hints(info);
}

static void get_elements(int index, MPI_Datatype *types, MPI_Aint *displacements, int *count)
{
    int n = weft_event_count((enum weft_event_type)index);
    int space = count ? *count : 0;
    for (int i = 0; i < n && i < space; i++) {
        if (types)
            types[i] = weft_event_types[index].element[i].type;
        if (displacements)
            displacements[i] = (MPI_Aint)weft_event_displacement((enum weft_event_type)index, i);
    }
    weft_tool_set(count, n);
}

int weft_mpi_event_get_info(int index, char *name, int *name_len, int *verbosity,
                            MPI_Datatype types[], MPI_Aint displacements[], int *num_elements,
                            MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len,
                            int *bind)
{
    const struct weft_event_row *row = &weft_event_types[index];
    weft_tool_string(row->name, name, name_len);
    weft_tool_string(row->help, desc, desc_len);
    weft_tool_set(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    weft_tool_set(bind, MPI_T_BIND_NO_OBJECT);
    get_elements(index, types, displacements, num_elements);
    if (enumtype)
        *enumtype = weft_tool_enum_of_event(index);
    return weft_mpi_no_hints(info);
}

int weft_mpi_event_get_index(const char *name, int *index)
{
    int i = 0;
    while (i < WEFT_EVENTS && strcmp(weft_event_types[i].name, name) != 0)
        i++;
    return found(i, WEFT_EVENTS, index);
}

void weft_mpi_event_copy(struct weft_event_instance *instance, void *buffer)
{
    for (int i = 0; i < weft_event_count(instance->type); i++)
        weft_event_instance_read(instance, i,
                                 (char *)buffer + weft_event_displacement(instance->type, i));
}
