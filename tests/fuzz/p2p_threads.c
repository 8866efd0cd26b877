// SPDX-License-Identifier: BSD-3-Clause
/* p2p.c with several threads of each rank that play at the same time. */
#define FUZZ_THREADS 3
#include "p2p.c"
