// SPDX-License-Identifier: BSD-3-Clause
/*
 * The properties of Fortran in the binary interface: addresses with a meaning, INTEGERs of
 * predefined handles, and the length of a status. This is the standard's interface; a front end
 * (src/frontend) compiles the same sources with another one.
 */
#ifndef WEFT_FORTRAN_INTERFACE_H
#define WEFT_FORTRAN_INTERFACE_H

/* ---- Addresses with a meaning of their own: the members of two common blocks. The blocks are
 * defined here and in every program unit that uses them, and the loader makes them one. */
struct weft_fortran_addresses {
    int bottom, in_place, buffer_automatic, errcodes_ignore, unweighted, weights_empty;
    int status_ignore[8], statuses_ignore[8];
};
extern struct weft_fortran_addresses weftad_;
extern struct weft_fortran_arguments {
    char argv_null, argvs_null;
} weftac_;

#define WEFT_FORTRAN_BOTTOM           (&weftad_.bottom)
#define WEFT_FORTRAN_IN_PLACE         (&weftad_.in_place)
#define WEFT_FORTRAN_BUFFER_AUTOMATIC (&weftad_.buffer_automatic)
#define WEFT_FORTRAN_ERRCODES_IGNORE  (&weftad_.errcodes_ignore)
#define WEFT_FORTRAN_UNWEIGHTED       (&weftad_.unweighted)
#define WEFT_FORTRAN_WEIGHTS_EMPTY    (&weftad_.weights_empty)
#define WEFT_FORTRAN_STATUS_IGNORE    (weftad_.status_ignore)
#define WEFT_FORTRAN_STATUSES_IGNORE  (weftad_.statuses_ignore)
#define WEFT_FORTRAN_ARGV_NULL        (&weftac_.argv_null)
#define WEFT_FORTRAN_ARGVS_NULL       (&weftac_.argvs_null)

static inline bool weft_fortran_is_special(const void *address)
{
    return (uintptr_t)address - (uintptr_t)&weftad_ < sizeof weftad_;
}

/* ---- Handles: an INTEGER below 4096 is the C constant itself. */
static inline bool weft_fortran_is_predefined(int handle)
{
    return (unsigned)handle < 4096;
}

static inline bool weft_fortran_is_constant(const void *handle)
{
    return (uintptr_t)handle < 4096;
}

/* C's key of a predefined attribute. */
static inline int weft_fortran_key(int keyval)
{
    return keyval;
}

enum { WEFT_FORTRAN_STATUS_SIZE = 8 /* INTEGERs */ };

#endif
