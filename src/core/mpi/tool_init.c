// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T: beginning, end, enumerations, categories (MPI 5.0 sections 15.3.4, 15.3.5 and 15.3.9).
 *
 * Invariant: as everywhere in MPI_T, what goes wrong is a code, and no error handler hears of it.
 */
#include "core/mpi/api.h"
#include "core/object/settings.h"
#include "core/tool/category.h"
#include "core/process/weft.h"

#include <string.h>

WEFT_EXPORT(T_init_thread);
int PMPI_T_init_thread(int required, int *provided)
{
    weft_enter_anytime();
    weft_tool_open();
    /* Every level is provided: MPI_T always takes the lock. */
    weft_tool_set(provided, weft_thread_level(required));
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_finalize);
int PMPI_T_finalize(void)
{
    weft_enter_anytime();
    return weft_tool_leave(weft_tool_close());
}

/* ---- Enumerations */

WEFT_EXPORT(T_enum_get_info);
int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    const struct weft_tool_enum *it = weft_tool_enum_of(enumtype);
    if (!it)
        return weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
    weft_tool_set(num, weft_tool_enum_count(it));
    weft_tool_string(it->name, name, name_len);
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_enum_get_item);
int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    char text[64];
    int len, code = weft_tool_enter();
    if (code)
        return code;
    const struct weft_tool_enum *it = weft_tool_enum_of(enumtype);
    if (!it)
        return weft_tool_leave(MPI_T_ERR_INVALID_HANDLE);
    if (indx < 0 || indx >= weft_tool_enum_count(it))
        return weft_tool_leave(MPI_T_ERR_INVALID_INDEX); /* INVALID_ITEM is deprecated */
    const char *item = weft_tool_enum_item(it, indx, &len);
    memcpy(text, item, (size_t)len);
    text[len] = '\0';
    weft_tool_set(value, indx);
    weft_tool_string(text, name, name_len);
    return weft_tool_leave(MPI_SUCCESS);
}

/* ---- Categories */

WEFT_EXPORT(T_category_get_num);
int PMPI_T_category_get_num(int *num_cat)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!num_cat)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *num_cat = WEFT_TOOL_CATEGORIES;
    return weft_tool_leave(MPI_SUCCESS);
}

/* Enters with the index of a category. */
static int enter(int category)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (category >= 0 && category < WEFT_TOOL_CATEGORIES)
        return MPI_SUCCESS;
    return weft_tool_leave(MPI_T_ERR_INVALID_INDEX);
}

WEFT_EXPORT(T_category_get_info);
int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    int code = enter(cat_index);
    if (code)
        return code;
    weft_tool_string(weft_categories[cat_index].name, name, name_len);
    weft_tool_string(weft_categories[cat_index].help, desc, desc_len);
    weft_tool_set(num_cvars, weft_category_list(WEFT_CATEGORY_CVARS, cat_index, 0, NULL));
    weft_tool_set(num_pvars, weft_category_list(WEFT_CATEGORY_PVARS, cat_index, 0, NULL));
    weft_tool_set(num_categories, weft_category_list(WEFT_CATEGORY_CATEGORIES, cat_index, 0, NULL));
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_category_get_num_events);
int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
    int code = enter(cat_index);
    if (code)
        return code;
    weft_tool_set(num_events, weft_category_list(WEFT_CATEGORY_EVENTS, cat_index, 0, NULL));
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_category_get_index);
int PMPI_T_category_get_index(const char *name, int *cat_index)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!name || !cat_index)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    for (int i = 0; i < WEFT_TOOL_CATEGORIES; i++) {
        if (strcmp(weft_categories[i].name, name) == 0) {
            *cat_index = i;
            return weft_tool_leave(MPI_SUCCESS);
        }
    }
    return weft_tool_leave(MPI_T_ERR_INVALID_NAME);
}

static int list(enum weft_category_kind kind, int category, int len, int *indices)
{
    int code = enter(category);
    if (code)
        return code;
    if (len < 0 || (len > 0 && !indices))
        return weft_tool_leave(MPI_T_ERR_INVALID);
    weft_category_list(kind, category, len, indices);
    return weft_tool_leave(MPI_SUCCESS);
}

WEFT_EXPORT(T_category_get_cvars);
int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    return list(WEFT_CATEGORY_CVARS, cat_index, len, indices);
}

WEFT_EXPORT(T_category_get_pvars);
int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    return list(WEFT_CATEGORY_PVARS, cat_index, len, indices);
}

WEFT_EXPORT(T_category_get_events);
int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
    return list(WEFT_CATEGORY_EVENTS, cat_index, len, indices);
}

WEFT_EXPORT(T_category_get_categories);
int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    return list(WEFT_CATEGORY_CATEGORIES, cat_index, len, indices);
}

/* What there is never changes. */
WEFT_EXPORT(T_category_changed);
int PMPI_T_category_changed(int *update_number)
{
    int code = weft_tool_enter();
    if (code)
        return code;
    if (!update_number)
        return weft_tool_leave(MPI_T_ERR_INVALID);
    *update_number = 1;
    return weft_tool_leave(MPI_SUCCESS);
}
