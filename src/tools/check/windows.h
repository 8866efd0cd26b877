// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows: epochs and accesses. See windows.c.
 */
#ifndef WEFT_CHECK_WINDOWS_H
#define WEFT_CHECK_WINDOWS_H

#include "tools/check/area.h"

#include "mpi.h"

struct check_record;
struct check_location;

/* True if the program has made a window. */
bool check_windows_are_made(void);

/* Before and after the real call. */
void check_windows_begin(const struct weft_call *call);
void check_windows_end(const struct weft_call *call);

/* Adds the processes whose MPI_Win_complete ends the exposure epoch of a window; false: there is no
 * such epoch. */
struct check_wants;
bool check_windows_want_complete(MPI_Win win, struct check_wants *wants);

/* True if this process has not completed as many accesses to a rank in MPI_COMM_WORLD. */
bool check_windows_is_incomplete(int rank, uint64_t key, uint64_t number);

/* The same for MPI_Win_start and the MPI_Win_post of the processes of its group; false: all have
 * called it, or the call does not wait for them. */
bool check_windows_want_post(const struct weft_call *call, struct check_wants *wants);
bool check_windows_is_unposted(int rank, uint64_t key, uint64_t number);
void check_windows_take_post(const struct check_record *record);

/* MPI_Win_start has waited long: records of the posts have not come, and may never. */
void check_windows_leave_posts(const struct weft_call *call);

/* True if such a call has been before this one, and records of its posts have not come until now.
 */
bool check_windows_lack_posts(const struct weft_call *call);

/* The same for MPI_Win_lock and the processes that hold the lock: takes its word; false: another
 * process has it. The number of a want has the target, and whether the lock is exclusive. */
bool check_windows_take_word(const struct weft_call *call);
void check_windows_leave_word(const struct weft_call *call); /* takes it no more */
void check_windows_want_unlock(const struct weft_call *call, struct check_wants *wants);
bool check_windows_holds_word(uint64_t key, uint64_t number);

/* A record of an access has arrived at its target. */
void check_windows_take(const struct check_record *record);

/* This process has changed bytes low to high - 1 of its window with a serial number, or another one
 * has, between two calls. */
void check_windows_stored(uint64_t serial, uint64_t low, uint64_t high,
                          const struct check_location *before, const struct check_location *behind);

/* MPI_Finalize: all records have arrived. */
void check_windows_finish(void);

/* True if other processes may write to the area, because it is in a window. */
bool check_windows_cover(const struct check_area *area);

#endif
