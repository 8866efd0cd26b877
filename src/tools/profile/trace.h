// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun --trace: see trace.c.
 */
#ifndef WEFT_PROFILE_TRACE_H
#define WEFT_PROFILE_TRACE_H

#include "tools/profile/profile.h"

extern bool profile_traces;

/* Reads WEFT_TRACE and WEFT_TRACE_LAST. */
void profile_trace_begin(void);

/* In MPI_Init: a report of a hang names the rank's file. */
void profile_trace_open(void);

/* Keeps a call of a thread. */
void profile_trace_call(const struct profile_thread *thread, const struct weft_call *call,
                        uint64_t begin, uint64_t ticks, uint64_t bytes);

/* Keeps the beginning of a send, or the completion of a receive, of message n of a channel.
 * bytes, tag: of a send. */
void profile_trace_message(const struct profile_thread *thread, enum profile_end end, uint64_t key,
                           uint32_t n, uint64_t ticks, uint64_t bytes, int32_t tag);

/* Writes the file. Collective. */
void profile_trace_write(void);

#endif
