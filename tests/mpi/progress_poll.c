// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=60
/*
 * progress_thread.c with a progress thread that polls.
 */
#define MODE "poll"
#include "progress_thread.c"
