// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocks of the heap, with the sizes that the program has asked for.
 *
 * The checker's library defines malloc and its kin, which call the next definitions. Each region of
 * 64 MiB in which a block has started has a table: a byte for each 16 bytes, which is not 0 where a
 * block starts: 1 and the bytes that the allocator has added at its end. Another byte for each
 * 64 KiB is set once a block has started there, so that a search for the start of a large block is
 * short, and one for each 16 bytes if the program has freed a block that started there. What MPI
 * frees in its calls does not count, nor what libraries free before MPI_Init. The tables are
 * address space that has memory where it is written; without (ulimit -v), and in programs with
 * AddressSanitizer, no block is known.
 */
#ifndef WEFT_CHECK_BLOCKS_H
#define WEFT_CHECK_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread is in a call of MPI. */
extern __thread __attribute__((tls_model("initial-exec"))) bool check_is_in_call;

/* The block that has an address: false: there is none, or it is not known. */
bool check_block_find(uintptr_t address, uintptr_t *low, uintptr_t *high);

/* True if the program has freed another block that started at the address. */
bool check_block_was_freed(uintptr_t address);

#endif
