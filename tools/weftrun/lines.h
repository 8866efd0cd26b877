// SPDX-License-Identifier: BSD-3-Clause
/* The output of the ranks, by complete lines, and weftrun's messages. */
#ifndef WEFTRUN_LINES_H
#define WEFTRUN_LINES_H

#include "state.h"

struct pollfd;

/* Starts. The bytes of a job of one rank are written as they arrive, because no other rank can
 * interrupt its lines. */
void weft_lines_start(const struct job *job);

/* A job of one rank gets company. */
void weft_lines_share(void);

/* Prints one sentence (printf's arguments, no newline) on stderr, after "weftrun: ". Before
 * weft_lines_start and after weft_lines_stop it is written at once. */
void weft_lines_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if s may be read: its pipe is open, and its queue is not full. */
bool weft_lines_wants(const struct stream *s);

/* Reads s's pipe once, without blocking, and queues complete lines; closes the pipe at its end.
 * True if there may be more data. */
bool weft_lines_read(struct stream *s);

/* After the rank's end: queues all remaining data, with an unfinished line, and closes the pipe. */
void weft_lines_finish(struct stream *s);

/* True if a stream has an unfinished line. */
bool weft_lines_has_unfinished(void);

/* Queues the unfinished line of s if its file is a terminal and the line is due at `now`
 * (weft_seconds()). Returns when it will be due, or INFINITY. */
double weft_lines_show(struct stream *s, double now);

/* Writes the descriptors to poll into fds (space for 2). Returns their number. */
int weft_lines_poll(struct pollfd *fds);

/* Writes without blocking, but for the files of ranks. Returns 0; EPIPE if the reader has closed
 * its end, or another errno (already reported), after which that output is dropped. */
int weft_lines_write(void);

/* True if the queues are empty. */
bool weft_lines_empty(void);

/* Drops all queued output and frees everything. */
void weft_lines_stop(void);

#endif
