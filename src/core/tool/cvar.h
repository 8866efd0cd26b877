// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T's control variables (MPI 5.0 section 15.3.6): the rows of the table of settings, and handles
 * for them.
 *
 * Invariants:
 *  - A value that was written keeps to the row's bounds, as one from the environment does.
 *  - While MPI does not run every variable may be written, and MPI starts with what was written
 *    whatever the environment says; while it runs those only whose row is WEFT_SETTING_LIVE.
 */
#ifndef WEFT_CVAR_H
#define WEFT_CVAR_H

#include "core/object/settings.h"
#include "core/tool/tool.h"

struct weft_cvar_handle;

/* MPI_CHAR, MPI_INT (with an enumeration) or MPI_COUNT. */
MPI_Datatype weft_cvar_type(const struct weft_setting *row);

/* Codes of MPI_T. */
int weft_cvar_make(const struct weft_setting *row, MPI_T_cvar_handle *handle, int *count);
struct weft_cvar_handle *weft_cvar_find(MPI_T_cvar_handle handle);
void weft_cvar_free(struct weft_cvar_handle *handle);
void weft_cvar_read(const struct weft_cvar_handle *handle, void *to);
int weft_cvar_write(const struct weft_cvar_handle *handle, const void *from);

#endif
