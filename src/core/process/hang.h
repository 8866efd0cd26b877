// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a rank waits for, told on stderr: after WEFT_HANG_TIMEOUT seconds without news, and whenever
 * SIGUSR1 asks. And what is left at the end of collectives that did not fit together.
 */
#ifndef WEFT_HANG_H
#define WEFT_HANG_H

#include "core/object/handle.h"

struct weft_request;

/* How many polls without news lie between two calls of weft_hang_check; a power of two. */
enum { WEFT_HANG_POLLS = 256 };

/* Takes SIGUSR1, if the program left it alone, and gives it back. */
void weft_hang_open(void);
void weft_hang_close(void);

/* Called by a waiting rank after polls (a multiple of WEFT_HANG_POLLS) polls without news; on is the
 * request it waits for, NULL when there is not one such. Reports when it is time. */
WEFT_COLD void weft_hang_check(unsigned polls, const struct weft_request *on);

/* Answers SIGUSR1 in a rank that does not wait but enters this MPI function. */
WEFT_COLD void weft_hang_answer(const char *function);

/* At the end, when all ranks have entered MPI_Finalize: warns of a message of a collective that was
 * never received, as far as software sees it, since then ranks have called different things. */
WEFT_COLD void weft_hang_check_left(void);

#endif
