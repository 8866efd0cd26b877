// SPDX-License-Identifier: BSD-3-Clause
/*
 * Control variables of MPI_T (MPI 5.0 section 15.3.6): handles for the rows of the settings table.
 *
 * Invariants:
 *  - A value that is written is within the row's bounds, as one from the environment.
 *  - Before MPI starts every variable may be written; the value overrides the environment. While
 *    MPI runs, only variables with WEFT_SETTING_LIVE may be written.
 */
#ifndef WEFT_CVAR_H
#define WEFT_CVAR_H

#include "core/base/settings.h"
#include "core/tool/tool.h"

struct weft_cvar_handle;

/* MPI_CHAR, MPI_INT (with an enumeration) or MPI_COUNT. */
MPI_Datatype weft_cvar_type(const struct weft_setting *row);

/* Handles. Functions return codes of MPI_T; find returns NULL for a stale handle. */
int weft_cvar_make(const struct weft_setting *row, MPI_T_cvar_handle *handle, int *count);
struct weft_cvar_handle *weft_cvar_find(MPI_T_cvar_handle handle);
void weft_cvar_free(struct weft_cvar_handle *handle);
void weft_cvar_read(const struct weft_cvar_handle *handle, void *to);
int weft_cvar_write(const struct weft_cvar_handle *handle, const void *from);

#endif
