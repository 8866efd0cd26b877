// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hang report: prints on stderr what a rank waits for, after WEFT_HANG_TIMEOUT seconds without
 * progress and after SIGUSR1.
 */
#ifndef WEFT_HANG_H
#define WEFT_HANG_H

#include "core/base/handle.h"

struct weft_request;

/* Writes how messages are described to weft_request_ops. */
void weft_hang_init(void);

/* Installs the handler of SIGUSR1 if the program has none; removes it. */
void weft_hang_open(void);
void weft_hang_close(void);

/* The function weft_wait_report (core/progress/progress.h): reports if the timeout has passed or
 * SIGUSR1 has come. */
WEFT_COLD void weft_hang_check(unsigned polls, const struct weft_request *on);

/* The name of the MPI function that the calling thread is in; on: the request that it waits for, or
 * NULL; buf: memory for the name. */
WEFT_COLD const char *weft_hang_function(const struct weft_request *on, char *buf, size_t len);

/* Reports after SIGUSR1 in a rank that does not wait and enters this MPI function. */
WEFT_COLD void weft_hang_answer(const char *function);

#endif
