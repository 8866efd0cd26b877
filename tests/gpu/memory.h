// SPDX-License-Identifier: BSD-3-Clause
/*
 * Device memory for the test programs: see memory.c.
 */
#ifndef WEFT_TESTS_MEMORY_H
#define WEFT_TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* For the wrappers that calls.py writes: the thread begins and ends a call of MPI. */
void device_memory_enter(const char *function);
void device_memory_leave(void);

/* For check.h. */
void *device_memory_alloc(size_t bytes);
bool device_memory_free(void *at);             /* false: other memory */
unsigned long long device_memory_copied(void); /* bytes that the driver has copied */

#endif
