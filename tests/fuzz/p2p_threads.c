// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
/* p2p.c with several threads of each rank that play at the same time. */
#define FUZZ_THREADS 3
#include "p2p.c"
