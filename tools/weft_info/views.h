// SPDX-License-Identifier: BSD-3-Clause
/*
 * The sections of weft_info's output. All print to stdout, and problems to stderr.
 *
 * Invariant: a view returns 0 without an error, and 1 after it has printed an error that the user
 * can correct.
 */
#ifndef WEFT_INFO_VIEWS_H
#define WEFT_INFO_VIEWS_H

#include <stdbool.h>

/* Versions of Weft, libfabric and PMIx, and the launcher the environment shows. */
int weft_view_versions(void);

/* One line per candidate with the reason why it is chosen or refused. both: for jobs on several
 * nodes and on one, else for several nodes and only the choice on one. */
int weft_view_providers(bool both);

/* The table of settings as lines of text, with the values now in force, or as Markdown, without
 * them. */
int weft_view_settings(bool markdown);

/* The algorithm that each collective uses, and what the settings change about it. */
int weft_view_collectives(void);

/* The performance variables and events of MPI_T. */
int weft_view_tools(void);

/* The self-test of a provider ("" for the one Weft would choose), timeout seconds for each probe.
 */
int weft_view_check(const char *provider, unsigned timeout);

/* The MPI whose binary interface a program needs, the libraries that the loader finds for it, the
 * symbols that they lack, and whether it would run on Weft. */
int weft_view_program(const char *name);

#endif
