// SPDX-License-Identifier: BSD-3-Clause
/* Output of the ranks, by whole lines, and weftrun's own sentences. */
#ifndef WEFTRUN_LINES_H
#define WEFTRUN_LINES_H

#include "state.h"

struct pollfd;

/* Prepares the way out. With tag, lines begin with the rank; with single, the job has one rank,
 * whose bytes are passed on as they come because nothing can cut its lines. */
void weft_lines_start(bool tag, bool single);

/* Says one sentence (printf's arguments, no newline) on stderr, after "weftrun: ". Before
 * weft_lines_start and after weft_lines_stop it is written at once. */
void weft_lines_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether s may be read now: its pipe is open and what was read before is not piling up. */
bool weft_lines_wants(const struct stream *s);

/* Reads what is in s's pipe without blocking and passes complete lines on; closes at its end. */
void weft_lines_read(struct stream *s);

/* The rank is gone: takes what is left in the pipe, unfinished line included, and closes it. */
void weft_lines_finish(struct stream *s);

/* Puts what weftrun's own output waits for into fds (room for 2). Returns how many. */
int weft_lines_poll(struct pollfd *fds);

/* Writes what can be written without blocking. Returns 0, EPIPE when the reader is gone, or the
 * errno of another error (said already); from then on that output is thrown away. */
int weft_lines_write(void);

/* Whether nothing waits to be written. */
bool weft_lines_empty(void);

/* Drops what waits and frees everything. */
void weft_lines_stop(void);

#endif
