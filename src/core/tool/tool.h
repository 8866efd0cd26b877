// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T (MPI 5.0 chapter 15): common functions, enumerations and categories. The entry points are
 * in core/mpi/tool.c and abi/entry_points.txt.
 *
 * Invariants:
 *  - The state of this folder is accessed under the lock of weft_vcis_enter, which requires
 *    neither an initialized MPI nor threads. Entry points return codes of MPI_T and call no error
 *    handler.
 *  - A handle is looked up in the list of existing ones before it is dereferenced, so that a stale
 *    handle returns an error.
 *  - Indices of variables, events and categories are constant.
 */
#ifndef WEFT_TOOL_H
#define WEFT_TOOL_H

#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the lock. Returns MPI_SUCCESS, or MPI_T_ERR_NOT_INITIALIZED without the lock. */
int weft_tool_enter(void);

/* Releases the lock. Returns code. */
int weft_tool_leave(int code);

/* The same before MPI_T is initialised. */
void weft_tool_enter_always(void);

/* MPI_T_init_thread and MPI_T_finalize, which may be nested. */
void weft_tool_open(void);
int weft_tool_close(void);

/* Copies a string to a buffer of *len bytes (MPI 5.0, 15.3.3), truncated and terminated, and sets
 * *len to the bytes of the complete string. Either pointer may be NULL. */
void weft_tool_string(const char *text, char *to, int *len);

/* Sets an output argument that may be NULL. */
static inline void weft_tool_set(int *to, int value)
{
    if (to)
        *to = value;
}

/* ---- Enumerations */

struct weft_tool_enum {
    const char *name;
    const char *items; /* "auto|provider|software": item i has the value i */
};

/* The enumeration of a handle, or NULL. */
const struct weft_tool_enum *weft_tool_enum_of(MPI_T_enum handle);

/* Handles of enumerations: the choices of a setting, by row; the values of weft_state and
 * weft_collective; the elements of an event type. */
MPI_T_enum weft_tool_enum_of_setting(int row);
MPI_T_enum weft_tool_enum_of_state(void);
MPI_T_enum weft_tool_enum_of_algorithm(void);
MPI_T_enum weft_tool_enum_of_event(int type);

/* The number of items, which weft_settings_choice returns. */
int weft_tool_enum_count(const struct weft_tool_enum *enumeration);

/* ---- Categories */

/* The category of a variable or event. */
enum weft_tool_category {
    WEFT_TOOL_ALL, /* the root, which contains the other categories */
    WEFT_TOOL_PROCESS,
    WEFT_TOOL_MATCHING,
    WEFT_TOOL_NET,
    WEFT_TOOL_SHM,
    WEFT_TOOL_COLLECTIVES,
    WEFT_TOOL_WINDOWS,
    WEFT_TOOL_FILES,
    WEFT_TOOL_CATEGORIES
};

/* ---- In pvar.c and cvar.c */

/* Free all handles and sessions at the last MPI_T_finalize. */
void weft_pvar_free_all(void);
void weft_cvar_free_all(void);

/* Stops variables of ranks before the peers are freed. */
void weft_pvar_freeze(void);

#endif
