// SPDX-License-Identifier: BSD-3-Clause
/*
 * Values of calls, and the next definitions: see call.h.
 */
#include "tools/interpose/call.h"
#include "core/base/assert.h"
#include "tools/interpose/wrapper.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_next weft_next;

_Static_assert(sizeof(struct weft_next) == WEFT_CALLS * sizeof(void *),
               "struct weft_next has one pointer for each call");

/* The definition of each function in a process without MPI at its start: a shell may start programs
 * of MPI, and an interpreter load it later, which is too late. */
static void no_mpi(void)
{
    fputs("weft: the process has loaded Weft after its start, where the preloaded tool cannot find "
          "it; start it with weftrun --abi openmpi or mpich, the MPI that it was built for, or "
          "preload "
          "that library of Weft behind the tool\n",
          stderr);
    abort();
}

struct weft_first weft_first[WEFT_CALLS];

static void find_first(const struct weft_function *function, struct weft_first *first)
{
    memset(first, -1, sizeof *first);
    for (int i = function->parameters - 1; i >= 0; i--) {
        const struct weft_parameter *parameter = &function->parameter[i];
        first->kind[parameter->kind] = (signed char)i;
        if (parameter->flow != WEFT_FLOW_OUT)
            first->object[parameter->object] = (signed char)i;
    }
}

void weft_next_resolve(void)
{
    for (int i = 0; i < WEFT_CALLS; i++)
        find_first(&weft_functions[i], &weft_first[i]);
    bool has_mpi = dlsym(RTLD_NEXT, WEFT_WRAPPER_PREFIX "Init") != NULL;
    for (int i = 0; i < WEFT_CALLS; i++) {
        char name[128];
        const char *full = weft_functions[i].name;
        bool is_extension = strncmp(full, "MPIX_", 5) == 0;
        snprintf(name, sizeof name, "%s%s",
                 is_extension ? WEFT_EXTENSION_PREFIX : WEFT_WRAPPER_PREFIX,
                 full + (is_extension ? sizeof "MPIX_" : sizeof "MPI_") - 1);
        void *next = has_mpi ? dlsym(RTLD_NEXT, name) : (void *)(uintptr_t)no_mpi;
        if (!next) {
            fprintf(stderr,
                    "weft: the preloaded tool finds no %s behind itself; preload it only for "
                    "programs that use Weft of the same version\n",
                    name);
            abort();
        }
        memcpy((char *)&weft_next + (size_t)i * sizeof next, &next, sizeof next);
    }
}

const char *weft_next_other(void)
{
    Dl_info info;
    void *next;
    memcpy(&next, &weft_next.Init, sizeof next);
    if (!dladdr(next, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *file = slash ? slash + 1 : info.dli_fname;
    return strncmp(file, "libmpi", 6) == 0 && strncmp(file, "libmpi_abi", 10) != 0 ? file : NULL;
}

void *weft_interpose_allocate(size_t n, size_t each)
{
    void *memory = calloc(n ? n : 1, each);
    if (!memory) {
        fprintf(stderr, "weft: the preloaded tool has no memory for %zu entries of %zu bytes\n", n,
                each);
        abort();
    }
    return memory;
}

void weft_interpose_free_type(MPI_Datatype *type)
{
    MPI_Count integers, addresses, counts, types;
    int combiner;
    if (weft_object_is_predefined(*type))
        return;
    weft_next.Type_get_envelope_c(*type, &integers, &addresses, &counts, &types, &combiner);
    if (combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
        combiner != MPI_COMBINER_F90_INTEGER)
        weft_next.Type_free(type);
}

int16_t weft_function_find_name(const struct weft_function *function, const char *name)
{
    for (int i = 0; i < function->parameters; i++)
        if (strcmp(function->parameter[i].name, name) == 0)
            return (int16_t)i;
    return -1;
}

int16_t weft_function_find(const struct weft_function *function, enum weft_parameter_kind kind,
                           int flows, int from)
{
    for (int i = from; i >= 0 && i < function->parameters; i++)
        if (function->parameter[i].kind == kind && flows & 1 << function->parameter[i].flow)
            return (int16_t)i;
    return -1;
}

int16_t weft_function_find_object(const struct weft_function *function,
                                  enum weft_object_kind object, int flows)
{
    for (int i = 0; i < function->parameters; i++)
        if (function->parameter[i].object == object && flows & 1 << function->parameter[i].flow)
            return (int16_t)i;
    return -1;
}

bool weft_function_is_neighbor(const struct weft_function *function)
{
    return strstr(function->name, "eighbor_") != NULL;
}

int weft_call_find_from(const struct weft_call *call, enum weft_parameter_kind kind, int from)
{
    return weft_function_find(call->function, kind, WEFT_FLOWS_ALL, from);
}

int64_t weft_call_length(const struct weft_call *call, int parameter)
{
    weft_assert(parameter >= 0 && parameter < call->function->parameters);
    int length = call->function->parameter[parameter].length;
    if (length == WEFT_LENGTH_ONE)
        return 1;
    return length < 0 ? 0 : weft_call_number(call, length, 0);
}

/* The address of element i of a parameter that points at its values; NULL: the program passed
 * NULL. */
static const char *element_at(const struct weft_call *call, int parameter, int64_t i)
{
    const char *base = call->values[parameter].pointer;
    weft_assert(i >= 0 && call->function->parameter[parameter].width > 0);
    return base ? base + (size_t)i * call->function->parameter[parameter].width : NULL;
}

int64_t weft_call_number(const struct weft_call *call, int parameter, int64_t i)
{
    const struct weft_parameter *p = &call->function->parameter[parameter];
    weft_assert(parameter >= 0 && parameter < call->function->parameters);
    if (!p->pointer)
        return call->values[parameter].number;
    const char *at = element_at(call, parameter, i);
    int64_t wide = 0;
    int narrow = 0;
    if (at && p->width == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    if (at)
        memcpy(&wide, at, sizeof wide);
    return wide;
}

void *weft_call_element(const struct weft_call *call, int parameter, int64_t i)
{
    void *handle = NULL;
    weft_assert(parameter >= 0 && parameter < call->function->parameters);
    if (!call->function->parameter[parameter].pointer)
        return call->values[parameter].pointer;
    const char *at = element_at(call, parameter, i);
    if (at)
        memcpy(&handle, at, sizeof handle);
    return handle;
}

bool weft_call_is_set(const struct weft_call *call, int parameter)
{
    int flag = call->function->parameter[parameter].flag;
    return flag < 0 || weft_call_number(call, flag, 0) != 0;
}

int64_t weft_call_status(const struct weft_call *call, int64_t element)
{
    int index = weft_call_find(call, WEFT_PARAMETER_INDEX, 0);
    int flag = weft_call_find(call, WEFT_PARAMETER_LOGICAL, 0);
    if (flag >= 0 && !weft_call_number(call, flag, 0))
        return -1;
    if (index < 0)
        return element;
    /* MPI_Waitsome has a number of indices before them. */
    const struct weft_parameter *before = &call->function->parameter[index - 1];
    int64_t n = before->kind == WEFT_PARAMETER_LENGTH ? weft_call_number(call, index - 1, 0) : 1;
    for (int64_t i = 0; i < n; i++)
        if (weft_call_number(call, index, i) == element)
            return i;
    return -1;
}

const char *weft_object_name(enum weft_object_kind object)
{
    static const char *const names[WEFT_OBJECTS] = {
        "object", "communicator", "datatype",  "error handler", "file",    "group",
        "info",   "message",      "operation", "request",       "session", "window",
    };
    weft_assert(object < WEFT_OBJECTS);
    return names[object];
}
