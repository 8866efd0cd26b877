// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two processes on this machine and a shared page: how the raw programs exchange addresses without
 * a network.
 *
 * Invariant: neither process runs on without the other. The child is killed when its parent ends;
 * the parent exits with an error if its child fails.
 */
#ifndef BENCH_RAW_PAIR_H
#define BENCH_RAW_PAIR_H

#include <stdbool.h>

enum { RAW_CARD = 256 }; /* bytes that each side can show to the other */

struct raw_shared;

/* Forks. name: the program's, for messages. bind: the parent to the first core this process may
 * use, the child to the second. *side becomes 0 in the parent and 1 in the child. Exits with a
 * sentence on failure. */
struct raw_shared *raw_pair_split(const char *name, bool bind, int *side);

/* Waits until both sides are here, calling progress(arg) meanwhile. */
void raw_pair_barrier(struct raw_shared *s, void (*progress)(void *), void *arg);

/* Shows RAW_CARD bytes to the other side and reads its. Both sides call it. */
void raw_pair_exchange(struct raw_shared *s, int side, const char *mine, char *theirs);

/* A flag that one side raises and the other looks at, then lowers. */
void raw_pair_release(struct raw_shared *s);
bool raw_pair_released(struct raw_shared *s);
void raw_pair_rearm(struct raw_shared *s);

/* The child exits with code; the parent waits for it and returns code (or exits with 1 if the
 * child failed). */
int raw_pair_join(struct raw_shared *s, int side, int code);

#endif
