// SPDX-License-Identifier: BSD-3-Clause
/*
 * Initialization of MPI_T, strings, enumerations: see tool.h.
 *
 * Invariant: uses is the number of calls of MPI_T_init_thread minus those of MPI_T_finalize.
 */
#include "core/tool/tool.h"

#include "core/base/settings.h"
#include "core/coll/choose.h"
#include "core/tool/event.h"
#include "core/message/process.h"

#include <stdio.h>
#include <string.h>

/* The enumerations of settings with choices, by row; of event types; of weft_state and
 * weft_collective. The handle of one is its index here plus 1. */
enum { SETTINGS_MAX = 64, OF_STATE = SETTINGS_MAX + WEFT_EVENTS, OF_ALGORITHM, ENUMS };
static struct weft_tool_enum enums[ENUMS] = {[OF_STATE] = {"weft_state", "stopped|running|idle"}};

static int uses;

/* "auto|dissemination|linear|..." */
static const char *algorithm_names(void)
{
    static char names[256];
    size_t length = 0;
    for (int i = 0; i < WEFT_ALGORITHMS; i++) {
        const char *name = weft_algorithm_name((enum weft_algorithm)i);
        length += (size_t)snprintf(names + length, sizeof names - length, i ? "|%s" : "%s", name);
        weft_assert(length < sizeof names);
    }
    return names;
}

static void make_enums(void)
{
    weft_assert(weft_settings_count <= SETTINGS_MAX);
    for (size_t i = 0; i < weft_settings_count && i < SETTINGS_MAX; i++)
        enums[i] =
            (struct weft_tool_enum){weft_settings_table[i].name, weft_settings_table[i].choices};
    for (int i = 0; i < WEFT_EVENTS; i++)
        enums[SETTINGS_MAX + i] =
            (struct weft_tool_enum){weft_event_types[i].name, weft_event_types[i].elements};
    enums[OF_ALGORITHM] = (struct weft_tool_enum){"weft_collective", algorithm_names()};
}

/* A callback of an event that calls MPI_T has the lock of events already, and perhaps one VCI: it
 * must not wait for others. */
void weft_tool_enter_always(void)
{
    if (!weft_event_is_locked())
        weft_vcis_enter();
    weft_event_lock();
}

static void leave(void)
{
    weft_event_unlock();
    if (!weft_event_is_locked())
        weft_vcis_leave();
}

int weft_tool_enter(void)
{
    weft_tool_enter_always();
    if (uses)
        return MPI_SUCCESS;
    leave();
    return MPI_T_ERR_NOT_INITIALIZED;
}

int weft_tool_leave(int code)
{
    leave();
    return code;
}

void weft_tool_open(void)
{
    char why[256];
    if (uses++)
        return;
    make_enums();
    /* Variables are readable before MPI runs. MPI_Init reports errors of the environment. */
    if (!weft.running)
        weft_settings_load(why, sizeof why);
}

int weft_tool_close(void)
{
    if (!uses)
        return MPI_T_ERR_NOT_INITIALIZED;
    if (--uses)
        return MPI_SUCCESS;
    weft_pvar_free_all();
    weft_cvar_free_all();
    weft_event_free_all();
    return MPI_SUCCESS;
}

void weft_tool_string(const char *text, char *to, int *len)
{
    int length = (int)strlen(text) + 1;
    if (!len)
        return;
    if (to && *len > 0) {
        int n = length < *len ? length : *len;
        memcpy(to, text, (size_t)n - 1);
        to[n - 1] = '\0';
    }
    *len = length;
}

/* ---- Enumerations */

const struct weft_tool_enum *weft_tool_enum_of(MPI_T_enum handle)
{
    uintptr_t index = (uintptr_t)handle - 1;
    return index < ENUMS && enums[index].items ? &enums[index] : NULL;
}

static MPI_T_enum handle_of(int index)
{
    weft_assert(index >= 0 && index < ENUMS);
    return enums[index].items ? (MPI_T_enum)(uintptr_t)(index + 1) : MPI_T_ENUM_NULL;
}

MPI_T_enum weft_tool_enum_of_setting(int row)
{
    return handle_of(row);
}

MPI_T_enum weft_tool_enum_of_state(void)
{
    return handle_of(OF_STATE);
}

MPI_T_enum weft_tool_enum_of_algorithm(void)
{
    return handle_of(OF_ALGORITHM);
}

MPI_T_enum weft_tool_enum_of_event(int type)
{
    return handle_of(SETTINGS_MAX + type);
}

int weft_tool_enum_count(const struct weft_tool_enum *enumeration)
{
    int count = 1;
    for (const char *c = enumeration->items; *c; c++)
        count += *c == '|';
    return count;
}
