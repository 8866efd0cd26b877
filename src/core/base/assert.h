// SPDX-License-Identifier: BSD-3-Clause
/*
 * Invariants that are executed: configure --enable-assert.
 *
 * Invariant: a condition depends on the state of this process alone. Input from the program, the
 * network, a provider or the shared memory of another process is checked in every build, with an
 * error.
 */
#ifndef WEFT_ASSERT_H
#define WEFT_ASSERT_H

/* With --enable-assert: if the condition is false, prints one sentence with its source and the
 * rank, and aborts. In other builds the condition is compiled, so that it stays valid C, and never
 * evaluated. */
#ifdef WEFT_ASSERT
#define weft_assert(condition)                                                                     \
    (__builtin_expect(!!(condition), 1)                                                            \
         ? (void)0                                                                                 \
         : weft_assert_fail(#condition, __FILE__, __LINE__, __func__))
#else
#define weft_assert(condition) ((void)sizeof(!(condition)))
#endif

__attribute__((cold, noinline, noreturn)) void
weft_assert_fail(const char *condition, const char *file, int line, const char *function);

#endif
