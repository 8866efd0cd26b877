// SPDX-License-Identifier: BSD-3-Clause
/*
 * A front end: a library with the name and the binary interface of another MPI, whose functions
 * convert arguments and results and call those of libmpi_abi.so.1 by their private names
 * (weft_abi_X, core/mpi/frontend.h). abi/frontend.py writes most of them.
 *
 * Names: front_X is that MPI's MPI_X, front_Comm its MPI_Comm. MPI_X is the standard's everywhere.
 * A conversion `in` is from that MPI to the standard, `out` back.
 *
 * Invariant: a front end keeps no table of handles. What it keeps for a callback is the extra state
 * of that callback, or is with the object in the core.
 */
#ifndef WEFT_FRONTEND_H
#define WEFT_FRONTEND_H

#include "core/base/assert.h"
#include "core/datatype/envelope.h"
#include "core/message/request.h"
#include "core/message/status.h"
#include "core/mpi/api.h"
#include "core/mpi/frontend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum front_kind {
    FRONT_KIND_NONE,
    FRONT_KIND_Comm,
    FRONT_KIND_Datatype,
    FRONT_KIND_Errhandler,
    FRONT_KIND_File,
    FRONT_KIND_Group,
    FRONT_KIND_Info,
    FRONT_KIND_Message,
    FRONT_KIND_Op,
    FRONT_KIND_Request,
    FRONT_KIND_Session,
    FRONT_KIND_Win
};

#define FRONT_PUBLIC __attribute__((visibility("default")))

/* A callback of the caller's; cast to its type before it is called. */
typedef void front_function(void);

/* A constant: its value in that MPI, and in the standard. */
struct front_pair {
    int theirs, ours;
};

enum { FRONT_FEW = 64 /* members of an array that are converted on the stack */ };

/* The standard's predefined handles are below FRONT_PREDEFINED; three of these are none: what the
 * standard lacks, and the markers of MPI-1, MPI_UB and MPI_LB. */
enum { FRONT_PREDEFINED = 0x300, FRONT_NOTHING = 0x2fc, FRONT_UB, FRONT_LB };

/* ---- Numbers. What has no counterpart passes unchanged: keys, codes and numbers of the user's. */
static inline int front_find_in(const struct front_pair *pairs, size_t n, int theirs, int otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i].theirs == theirs)
            return pairs[i].ours;
    return otherwise;
}

static inline int front_find_out(const struct front_pair *pairs, size_t n, int ours, int otherwise)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i].ours == ours)
            return pairs[i].theirs;
    return otherwise;
}

#define FRONT_COUNT(pairs) (sizeof(pairs) / sizeof(pairs)[0])

#define FRONT_CONVERT_VALUE(role, pairs)                                                           \
    static inline int front_##role##_in(int value)                                                 \
    {                                                                                              \
        return front_find_in(pairs, FRONT_COUNT(pairs), value, value);                             \
    }                                                                                              \
    static inline int front_##role##_out(int value)                                                \
    {                                                                                              \
        return front_find_out(pairs, FRONT_COUNT(pairs), value, value);                            \
    }

/* Ranks and tags: one compare for those that are no constants. A negative number without a meaning
 * there has none here. FRONT_INVALID is also the source in a status that a call has not set. */
enum { FRONT_INVALID = -32000 };
#define FRONT_CONVERT_RANK(role, pairs)                                                            \
    static inline int front_##role##_in(int value)                                                 \
    {                                                                                              \
        return weft_likely(value >= 0)                                                             \
                   ? value                                                                         \
                   : front_find_in(pairs, FRONT_COUNT(pairs), value,                               \
                                   value == MPI_UNDEFINED ? value : FRONT_INVALID);                \
    }                                                                                              \
    static inline int front_##role##_out(int value)                                                \
    {                                                                                              \
        return weft_likely(value >= 0) ? value                                                     \
                                       : front_find_out(pairs, FRONT_COUNT(pairs), value, value);  \
    }
#define FRONT_CONVERT_TAG FRONT_CONVERT_RANK

/* Sets of bits. A bit without a meaning there is one without a meaning here. */
static inline int front_bits(const struct front_pair *pairs, size_t n, int bits, bool in)
{
    int result = 0;
    for (size_t i = 0; i < n; i++) {
        int from = in ? pairs[i].theirs : pairs[i].ours;
        if (bits & from) {
            result |= in ? pairs[i].ours : pairs[i].theirs;
            bits &= ~from;
        }
    }
    return bits ? result | 1 << 30 : result;
}

#define FRONT_CONVERT_BITS(role, pairs)                                                            \
    static inline int front_##role##_in(int value)                                                 \
    {                                                                                              \
        return value ? front_bits(pairs, FRONT_COUNT(pairs), value, true) : 0;                     \
    }                                                                                              \
    static inline int front_##role##_out(int value)                                                \
    {                                                                                              \
        return front_bits(pairs, FRONT_COUNT(pairs), value, false);                                \
    }

/* Error codes: a class that the other MPI lacks becomes MPI_ERR_OTHER; codes of the user's are
 * above MPI_ERR_LASTCODE there, too. An invalid error handler is an invalid argument in the
 * versions that MPI_Get_library_version reports, though later ones have a class for it. */
#define FRONT_CODE_SHIFT                                                                           \
    (FRONT_ERR_LASTCODE > MPI_ERR_LASTCODE ? FRONT_ERR_LASTCODE - MPI_ERR_LASTCODE : 0)
#define FRONT_CONVERT_ERROR(role, pairs)                                                           \
    static inline int front_##role##_in(int code)                                                  \
    {                                                                                              \
        int otherwise = code >= FRONT_ERR_LASTCODE ? code - FRONT_CODE_SHIFT : code;               \
        return front_find_in(pairs, FRONT_COUNT(pairs), code, otherwise);                          \
    }                                                                                              \
    static inline __attribute__((cold)) int front_##role##_out(int code)                           \
    {                                                                                              \
        if (code == MPI_ERR_ERRHANDLER)                                                            \
            code = MPI_ERR_ARG;                                                                    \
        int otherwise = code >= MPI_ERR_LASTCODE ? code + FRONT_CODE_SHIFT : MPI_ERR_OTHER;        \
        return front_find_out(pairs, FRONT_COUNT(pairs), code, otherwise);                         \
    }

/* Distribution arguments: a constant, or a block size, which may be the number of the standard's
 * constant. WEFT_DARG_19 itself becomes 0, which is no block size either. */
#define FRONT_CONVERT_DARG(role, pairs)                                                            \
    static inline int front_##role##_in(int value)                                                 \
    {                                                                                              \
        if (value == pairs[0].theirs)                                                              \
            return pairs[0].ours;                                                                  \
        if (value == pairs[0].ours)                                                                \
            return WEFT_DARG_19;                                                                   \
        return value == WEFT_DARG_19 ? 0 : value;                                                  \
    }                                                                                              \
    static inline int front_##role##_out(int value)                                                \
    {                                                                                              \
        if (value == pairs[0].ours)                                                                \
            return pairs[0].theirs;                                                                \
        return value == WEFT_DARG_19 ? pairs[0].ours : value;                                      \
    }

#define FRONT_CONVERT_OFFSET(role, pairs)                                                          \
    static inline MPI_Offset front_##role##_in(MPI_Offset value)                                   \
    {                                                                                              \
        return value == pairs[0].theirs ? pairs[0].ours : value;                                   \
    }

#include "tables.h" /* made by abi/frontend.py */

/* ---- The interface: front_Comm and the like with conversions, and front_Status */
#include "interface.h" /* in the folder of that MPI */

#pragma GCC visibility push(default)
#include "entries.h" /* made by abi/frontend.py */
#pragma GCC visibility pop

/* Stands before the definition of front_X, whose symbol is PMPI_X. */
#define FRONT_ALIAS_OF(name, strong, symbol)                                                       \
    FRONT_PUBLIC __attribute__((weak, alias(strong))) extern __typeof__(front_##name)              \
    WEFT_FRONT_JOIN(front_alias_##name##_, __COUNTER__) __asm__(symbol)
#define FRONT_ALIAS(name, symbol)    FRONT_ALIAS_OF(name, "PMPI_" #name, symbol)
#define FRONT_EXPORT(name)           FRONT_ALIAS(name, "MPI_" #name)
#define FRONT_EXPORT_EXTENSION(name) FRONT_ALIAS_OF(name, "PMPIX_" #name, "MPIX_" #name)
#define WEFT_FRONT_JOIN_(a, b)       a##b
#define WEFT_FRONT_JOIN(a, b)        WEFT_FRONT_JOIN_(a, b)

/* The two forms of one conversion: abi/frontend.py. */
#define FRONT_INLINE  static inline __attribute__((always_inline))
#define FRONT_OUTLINE static __attribute__((noinline))

/* Defines a function that the standard lacks, with the symbols MPI_<name> and PMPI_<name>. */
#define FRONT_DEFINE(name, result, parameters)                                                     \
    FRONT_PUBLIC result front_##name parameters __asm__("PMPI_" #name);                            \
    FRONT_EXPORT(name);                                                                            \
    result front_##name parameters

/* Defines a function with the symbols MPIX_<name> and PMPIX_<name>. */
#define FRONT_EXTENSION(name, parameters)                                                          \
    FRONT_PUBLIC int PMPIX_##name parameters;                                                      \
    FRONT_PUBLIC extern __typeof__(PMPIX_##name) MPIX_##name                                       \
        __attribute__((weak, alias("PMPIX_" #name)));                                              \
    int PMPIX_##name parameters

/* The return value of a function for a code of the core. */
static inline int front_code(int code)
{
    return weft_likely(code == MPI_SUCCESS) ? code : front_error_out(code);
}

/* ---- Arrays. What is converted lies in `few` if it fits, else in memory to be released. */
void *front_allocate(int n, size_t size);

static inline void *front_space(int n, void *few, size_t size)
{
    return n <= FRONT_FEW ? few : front_allocate(n, size);
}

static inline void front_release(void *array, void *few)
{
    if (array != few)
        free(array);
}

/* True at the root, where arguments are significant that no other rank's call reads. */
static inline bool front_is_root(front_Comm comm, int root)
{
    return weft_abi_is_root(front_Comm_in(comm), front_rank_in(root));
}

/* A handle that may be any value where it is not significant. The core does not read it there, but
 * gets a valid one, so that it reports what else is wrong with the call. */
static inline MPI_Datatype front_Datatype_if(bool significant, front_Datatype handle)
{
    return significant ? front_Datatype_in(handle) : MPI_BYTE;
}

static inline MPI_Op front_Op_if(bool significant, front_Op handle)
{
    return significant ? front_Op_in(handle) : MPI_BOR;
}

int *front_ints_in(int n, const int *array, int *few, int (*convert)(int));
void front_ints_out(int n, int *array, int (*convert)(int));
MPI_Datatype *front_Datatypes_in(int n, const front_Datatype *array, MPI_Datatype *few);
MPI_Info *front_Infos_in(int n, const front_Info *array, MPI_Info *few);
MPI_Request *front_Requests_in(int n, const front_Request *array, MPI_Request *few);

/* Statuses for a call; NULL for MPI_STATUSES_IGNORE. */
static inline MPI_Status *front_statuses(int n, const front_Status *theirs, MPI_Status *few)
{
    return front_status_given(theirs) ? front_space(n, few, sizeof *few) : MPI_STATUSES_IGNORE;
}
void front_statuses_out(int n, const MPI_Status *ours, front_Status *theirs, bool with_errors);

/* True if a call that returned a code of the core's has set its statuses. */
static inline bool front_has_status(int code)
{
    return weft_likely(code == MPI_SUCCESS) || code == MPI_ERR_IN_STATUS;
}

/* The numbers of datatypes that MPI_Alltoallw and its kin read. */
struct front_blocks {
    int send, receive;
};
struct front_blocks front_blocks(front_Comm comm, bool neighbor, const void *sendbuf);

/* ---- Strings: copies at most size bytes with the final 0; *length becomes what was copied. */
void front_copy_text(char *to, size_t size, const char *from, int *length);

/* True if buffers may be in memory of a kind (MPI_Info key mpi_memory_alloc_kinds): "cuda". False
 * before MPI_Init and after MPI_Finalize. */
bool front_takes_memory(const char *kind);

/* The results of MPI_Get_library_version and MPI_Get_version. */
extern const char front_library_version[];
extern const int front_version[2];

/* From now on `copy` and `delete` call the user's functions of a key; C++ has such. */
void front_keyval_proxies(int number, front_function *copy, front_function *delete);

#endif
