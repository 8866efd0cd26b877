// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded (LD_PRELOAD): reports to the checker what the program frees, if the checker is loaded.
 * A library of its own, because what is preloaded is found by libfabric too. glibc's own names for
 * what is replaced are called, so that nothing has to be looked up before the first free().
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void __libc_free(void *memory);
extern void *__libc_realloc(void *memory, size_t bytes);

/* Set by the checker when it is loaded. */
void (*strict_memory_released)(const void *memory, size_t bytes);

static void report(const void *memory, size_t bytes)
{
    if (strict_memory_released)
        strict_memory_released(memory, bytes);
}

void free(void *memory)
{
    int before = errno;

    if (memory)
        report(memory, malloc_usable_size(memory));
    errno = before;
    __libc_free(memory);
}

void *realloc(void *memory, size_t bytes)
{
    if (memory && bytes > malloc_usable_size(memory))
        report(memory, malloc_usable_size(memory));
    return __libc_realloc(memory, bytes);
}

int munmap(void *memory, size_t bytes)
{
    report(memory, bytes);
    return (int)syscall(SYS_munmap, memory, bytes);
}
