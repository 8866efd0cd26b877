// SPDX-License-Identifier: BSD-3-Clause
/*
 * The location in the program that made a call.
 *
 * While the program runs a site is an address in the program: one compare for a call from C. A call
 * that comes through an MPI library (Fortran, a front end) is unwound to the first frame outside of
 * the MPI libraries. File, line and function are looked up when a finding is reported, with libdw
 * of elfutils if Weft was built with it; else a site is a file of the program with an offset.
 *
 * Invariant: weft_site_lookup allocates and reads files; it runs only when something is reported.
 */
#ifndef WEFT_TOOLS_SITE_H
#define WEFT_TOOLS_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_site {
    char function[64];
    char file[256]; /* of the source, or of the program and an offset; "": not known */
    int line;       /* 0: not known */
};

/* A site that another rank can look up, whose addresses differ. */
struct weft_portable_site {
    uint64_t offset; /* in the module; 0: not known */
    uint32_t module; /* a hash of the module's name */
};

/* Reads what is loaded: at the start, and again in MPI_Init, because interpreters load libraries
 * late. */
void weft_site_read_modules(void);

/* The memory of the program itself, without its libraries. */
extern struct weft_site_range {
    uintptr_t begin, end;
} weft_site_program_range;

static inline bool weft_site_is_in_program(const void *code)
{
    const uintptr_t address = (uintptr_t)code;
    return address >= weft_site_program_range.begin && address < weft_site_program_range.end;
}

/* The address in the program behind the return address of a wrapper: of a library, */
const void *weft_site_in_library(const void *returns);

/* or of any module. */
static inline const void *weft_site_of(const void *returns)
{
    return weft_site_is_in_program(returns) ? returns : weft_site_in_library(returns);
}

/* The same for a return address in an MPI library, always by unwinding. offset: of the return
 * address to the program in the stack from frame, an address in the frame of the wrapper; 0: it is
 * not there. */
const void *weft_site_unwind(const void *returns, const void *frame, int32_t *offset);

/* True if the wrapper or the MPI library that had this address in its frame is still in that call:
 * longjmp may have left it. */
bool weft_site_is_in_call(const void *frame);

/* The programs of a job may differ. The path of this one, and those of others, whose sites can be
 * looked up then; at most 16. */
void weft_site_program(char *path, size_t size);
void weft_site_add_program(const char *path);

struct weft_portable_site weft_site_pack(const void *address);

/* NULL: the module is neither loaded here nor a program of the job. The result is to be looked up
 * only. */
const void *weft_site_unpack(struct weft_portable_site site);

void weft_site_lookup(const void *address, struct weft_site *site);

#endif
