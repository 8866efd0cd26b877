// SPDX-License-Identifier: BSD-3-Clause
/*
 * A thread that moves messages along while the program is outside of MPI (WEFT_PROGRESS_THREAD).
 */
#ifndef WEFT_PROGRESS_THREAD_H
#define WEFT_PROGRESS_THREAD_H

/* Starts it if there is none; weft_entry_flags has WEFT_ENTRY_THREADS from before until after its
 * end. Returns 0, or an errno value. */
int weft_progress_thread_start(void);

/* Wakes it, if it sleeps: this process has work that no other rank wakes it for. */
void weft_progress_thread_wake(void);

/* Ends it, if there is one. May be called with or without the lock held. */
void weft_progress_thread_stop(void);

#endif
