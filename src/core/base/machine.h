// SPDX-License-Identifier: BSD-3-Clause
/*
 * The representation of numbers on this machine. Messages carry them as they are, so the ranks of a
 * job need the same description.
 */
#ifndef WEFT_MACHINE_H
#define WEFT_MACHINE_H

enum { WEFT_MACHINE_BYTES = 96 }; /* of a description, with its end */

/* "little-endian, long of 8 bytes, long double of 64 bits in 16 bytes, ..."; WEFT_TEST_MACHINE
 * pretends another one. */
void weft_machine_describe(char description[WEFT_MACHINE_BYTES]);

#endif
