// SPDX-License-Identifier: BSD-3-Clause
/*
 * The life of the process, and the entry to it of each MPI function.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include "core/message/process.h"

/* General path of weft_enter: checks that MPI is initialised, takes all VCIs when there are
 * threads, answers SIGUSR1. Returns MPI_SUCCESS, or an error class that the entry point returns at
 * once. */
WEFT_COLD int weft_enter_general(const char *function);
WEFT_COLD void weft_leave_general(void);

/* Every entry point that touches the process calls these two around its body, or the pair below. */
static inline int weft_enter(const char *function)
{
    return weft_unlikely(weft_entry_flags) ? weft_enter_general(function) : MPI_SUCCESS;
}

static inline void weft_leave(void)
{
    if (weft_unlikely(weft_entry_flags))
        weft_leave_general();
}

/* The same for operations that need one VCI only. Inside a call that holds all VCIs, and when flags
 * other than WEFT_ENTRY_THREADS are set, all are taken (once more); so weft_leave_on releases what
 * is held. */
static inline int weft_enter_on(const char *function, struct weft_vci *vci)
{
    if (weft_likely(!weft_entry_flags))
        return MPI_SUCCESS;
    if (weft_unlikely(weft_entry_flags != WEFT_ENTRY_THREADS) ||
        weft_unlikely(weft_vcis_hold_all()))
        return weft_enter_general(function);
    weft_lock_enter(&vci->lock);
    return MPI_SUCCESS;
}

static inline void weft_leave_on(struct weft_vci *vci)
{
    if (weft_likely(!weft_entry_flags))
        return;
    if (weft_unlikely(weft_vcis_hold_all()))
        weft_leave_general();
    else
        weft_lock_leave(&vci->lock);
}

/* The same on one VCI, or on all (NULL). */
static inline int weft_enter_scope(const char *function, struct weft_vci *vci)
{
    return vci ? weft_enter_on(function, vci) : weft_enter(function);
}

static inline void weft_leave_scope(struct weft_vci *vci)
{
    if (vci)
        weft_leave_on(vci);
    else
        weft_leave();
}

/* MPI_Init and MPI_Finalize: starts MPI unless a session has; thread_level is the required level.
 * Return an error class after recording its sentence. */
int weft_init(int thread_level);
int weft_finalize(void);

/* A session begins or ends to use MPI. While MPI has no user, after the first, it sleeps: nothing
 * is closed until MPI_Finalize or the exit of the process, because other ranks may go on. */
void weft_enter_use(int thread_level);
void weft_leave_use(int thread_level);

/* In a forked child of a rank, which cannot use MPI: records the error and returns its class;
 * elsewhere MPI_SUCCESS. */
int weft_check_forked(void);

bool weft_is_initialized(void);
bool weft_is_finalized(void);
bool weft_is_main_thread(void);

/* The level of thread support that a program which requires one gets. */
int weft_thread_level(int required);

#endif
