// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads libfabric when the net lane is first needed.
 */
#ifndef WEFT_OFI_LOAD_H
#define WEFT_OFI_LOAD_H

#include <stddef.h>

/*
 * Loads libfabric, once, and restores the signal handlers. Returns 0, or -1 with a sentence in why
 * (len bytes). To be called before any function of libfabric.
 */
int weft_fabric_load(char *why, size_t len);

#endif
