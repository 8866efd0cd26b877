// SPDX-License-Identifier: BSD-3-Clause
/*
 * What can be said about the bootstrap without joining a job, for weft_info.
 *
 * Invariant: nothing here calls PMIx_Init, so it is safe in any process, in a job or not.
 */
#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* Writes PMIx's own description of the running library, and the version built with. */
void weft_boot_versions(char *running, size_t running_len, char *built, size_t built_len);

/* Writes the name of the launcher that the environment shows ("none"). Returns false, with the
 * sentence for the user in why, when a launcher is there that gave us no PMIx to join it by. */
bool weft_boot_launcher(char *name, size_t name_len, char *why, size_t len);

#endif
