// SPDX-License-Identifier: BSD-3-Clause
/*
 * Macros of the generated wrappers: see call.h. The wrappers are compiled twice: with
 * WEFT_TOOL_FRONT they have the names that front ends call.
 */
#ifndef WEFT_TOOLS_WRAPPER_H
#define WEFT_TOOLS_WRAPPER_H

#include "tools/interpose/call.h"

#ifdef WEFT_TOOL_FRONT
#define WEFT_WRAPPER_PREFIX   "weft_abi_"
#define WEFT_EXTENSION_PREFIX "weft_abi_"
#else
#define WEFT_WRAPPER_PREFIX   "MPI_"
#define WEFT_EXTENSION_PREFIX "MPIX_"
#endif

/* Exports wrap_<name> as MPI_<name>, or MPIX_<name>; stands behind its definition. */
#define WEFT_EXPORT(name, symbol)                                                                  \
    __attribute__((                                                                                \
        visibility("default"),                                                                     \
        alias("wrap_" #name))) extern __typeof__(wrap_##name) export_##name __asm__(symbol)
#define WEFT_EXPORT_WRAPPER(name)   WEFT_EXPORT(name, WEFT_WRAPPER_PREFIX #name)
#define WEFT_EXPORT_EXTENSION(name) WEFT_EXPORT(name, WEFT_EXTENSION_PREFIX #name)

#define WEFT_CALL_HERE(name, values)                                                               \
    {                                                                                              \
        &weft_functions[WEFT_CALL_##name], (values), __builtin_return_address(0),                  \
            __builtin_frame_address(0), MPI_SUCCESS, NULL                                          \
    }

#endif
