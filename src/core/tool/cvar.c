// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles of control variables: see cvar.h.
 */
#include "core/tool/cvar.h"

#include "core/message/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRING_SPACE = 256 };

struct weft_cvar_handle {
    struct weft_cvar_handle *next;
    const struct weft_setting *row;
};

static struct weft_cvar_handle *handles;

MPI_Datatype weft_cvar_type(const struct weft_setting *row)
{
    return row->type == WEFT_SETTING_STRING   ? MPI_CHAR
           : row->type == WEFT_SETTING_CHOICE ? MPI_INT
                                              : MPI_COUNT;
}

int weft_cvar_make(const struct weft_setting *row, MPI_T_cvar_handle *handle, int *count)
{
    struct weft_cvar_handle *made = malloc(sizeof *made);
    if (!made)
        return MPI_T_ERR_MEMORY;
    *made = (struct weft_cvar_handle){handles, row};
    handles = made;
    *handle = (MPI_T_cvar_handle)made;
    *count = row->type == WEFT_SETTING_STRING ? STRING_SPACE : 1;
    return MPI_SUCCESS;
}

struct weft_cvar_handle *weft_cvar_find(MPI_T_cvar_handle value)
{
    struct weft_cvar_handle *handle = handles;
    while (handle && (MPI_T_cvar_handle)handle != value)
        handle = handle->next;
    return handle;
}

void weft_cvar_free(struct weft_cvar_handle *handle)
{
    weft_assert(weft_cvar_find((MPI_T_cvar_handle)handle));
    struct weft_cvar_handle **link = &handles;
    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    free(handle);
}

void weft_cvar_free_all(void)
{
    while (handles)
        weft_cvar_free(handles);
}

void weft_cvar_read(const struct weft_cvar_handle *handle, void *to)
{
    const struct weft_setting *row = handle->row;
    const void *field = (const char *)&weft_settings + row->offset;
    if (row->type == WEFT_SETTING_STRING)
        weft_settings_format(row, to, STRING_SPACE);
    else if (row->type == WEFT_SETTING_CHOICE)
        memcpy(to, field, sizeof(int));
    else
        *(MPI_Count *)to = *(const int64_t *)field;
}

/* Writes the text of a choice. Returns false if the choice does not exist. */
static bool text_of_choice(const struct weft_setting *row, int choice, char *text)
{
    const struct weft_tool_enum items = {row->name, row->choices};
    int len;
    if (choice < 0 || choice >= weft_tool_enum_count(&items))
        return false;
    const char *item = weft_settings_choice(items.items, choice, &len);
    snprintf(text, STRING_SPACE, "%.*s", len, item);
    return true;
}

/* Writes a value in the syntax of the environment variable. Returns false for an invalid value. */
static bool text_of(const struct weft_setting *row, const void *value, char *text)
{
    int choice;
    switch (row->type) {
    case WEFT_SETTING_STRING:
        if (strnlen(value, STRING_SPACE) == STRING_SPACE)
            return false;
        snprintf(text, STRING_SPACE, "%s", (const char *)value);
        return true;
    case WEFT_SETTING_CHOICE:
        memcpy(&choice, value, sizeof choice);
        return text_of_choice(row, choice, text);
    default:
        snprintf(text, STRING_SPACE, "%lld", (long long)*(const MPI_Count *)value);
        return true;
    }
}

int weft_cvar_write(const struct weft_cvar_handle *handle, const void *from)
{
    char text[STRING_SPACE];
    if (weft.running && !(handle->row->flags & WEFT_SETTING_LIVE))
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    return text_of(handle->row, from, text) && weft_settings_set(handle->row, text)
               ? MPI_SUCCESS
               : MPI_T_ERR_INVALID;
}
