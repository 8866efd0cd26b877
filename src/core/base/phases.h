// SPDX-License-Identifier: BSD-3-Clause
/*
 * The phases of MPI's start and end, which WEFT_VERBOSE=2 prints: a stretch from one mark to the
 * next is a phase. Only for the thread that starts or ends MPI.
 */
#ifndef WEFT_PHASES_H
#define WEFT_PHASES_H

/* Forgets all phases; the first one begins. */
void weft_phases_begin(void);

/* The stretch since the last mark was this phase. A phase of the same name is extended. name is
 * kept by address. */
void weft_phase_end(const char *name);

/* Prints the phases since the beginning, if the setting verbose is 2. of: the call they belong to.
 */
void weft_phases_report(const char *of);

#endif
