// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files: accesses of several ranks that overlap without an order, data that do not fit the view,
 * and files that are closed while operations on them are not complete.
 *
 * Overlap. A rank sends a record of each access to the leader of the file (channel.h), which
 * compares those of different ranks, of which one writes, if it is sure that nothing orders them:
 * both are of one collective call, or both follow the same collective call on the file, and neither
 * rank has made a call since by which another process may have ordered it. In atomic mode accesses
 * have a result in any order, and are not compared. Nor are those by the shared pointer, and those
 * that begin or end within a filetype with gaps.
 *
 * Views. The basic types of the data are those of the etype, as often as needed, unless one of them
 * is MPI_BYTE; so are those of a filetype.
 */
#ifndef WEFT_CHECK_FILES_H
#define WEFT_CHECK_FILES_H

#include "tools/check/channel.h"
#include "tools/check/check.h"

/* Counts calls by which processes may be ordered. */
extern uint64_t check_file_calls;
static inline void check_files_count_call(void)
{
    if (check.several_threads)
        __atomic_fetch_add(&check_file_calls, 1, __ATOMIC_RELAXED);
    else
        check_file_calls++;
}

/* Before and after a call with a file. */
void check_files_begin(const struct weft_call *call);
void check_files_end(const struct weft_call *call);

void check_files_take(const struct check_record *record);

#endif
