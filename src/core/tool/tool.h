// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T (MPI 5.0 chapter 15): what its parts share. Entry points: core/mpi/tool.c.
 *
 * Invariants:
 *  - Everything here is touched only under the lock (weft_enter_anytime), which needs neither MPI
 *    nor threads; entry points of MPI_T return codes and call no error handler.
 *  - Handles are found in the lists of what exists before they are looked into, so one that was
 *    freed, or never was, is an error and nothing worse.
 *  - Numbers of variables, events and categories never change while the process lives.
 */
#ifndef WEFT_TOOL_H
#define WEFT_TOOL_H

#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enters MPI_T: MPI_SUCCESS with the lock held, or MPI_T_ERR_NOT_INITIALIZED without it. */
int weft_tool_enter(void);

/* Leaves it. Returns code. */
int weft_tool_leave(int code);

/* Begins and ends a use of MPI_T. */
void weft_tool_open(void);
int weft_tool_close(void);

/* Gives a string to a caller who has room for *len bytes at to (MPI 5.0, 15.3.3): what fits, with an
 * end, and the bytes that it takes as a whole. Either pointer may be NULL. */
void weft_tool_string(const char *text, char *to, int *len);

/* Sets what a caller asked for, if it did. */
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

/* The handle of the enumeration of a setting (by its row), of that of pvar weft_state, or of the
 * elements of an event type. */
MPI_T_enum weft_tool_enum_of_setting(int row);
MPI_T_enum weft_tool_enum_of_state(void);
MPI_T_enum weft_tool_enum_of_event(int type);

/* How many items it has; the text of one, not ended by a NUL, and its length. */
int weft_tool_enum_count(const struct weft_tool_enum *enumeration);
const char *weft_tool_enum_item(const struct weft_tool_enum *enumeration, int item, int *len);

/* ---- Categories */

/* What a variable or event belongs to. */
enum weft_tool_category {
    WEFT_TOOL_ALL, /* the root: it holds the others */
    WEFT_TOOL_PROCESS,
    WEFT_TOOL_MATCHING,
    WEFT_TOOL_NET,
    WEFT_TOOL_SHM,
    WEFT_TOOL_COLLECTIVES,
    WEFT_TOOL_CATEGORIES
};

enum weft_tool_category weft_tool_category_of_setting(int row);

/* ---- Ends: pvar.c, cvar.c */

/* The end of the last use of MPI_T: free what the tool has left. */
void weft_pvar_free_all(void);
void weft_cvar_free_all(void);

/* MPI is about to give up its peers: variables of ranks keep what they have. */
void weft_pvar_freeze(void);

#endif
