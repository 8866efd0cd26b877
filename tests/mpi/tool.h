// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the tests of MPI_T share: finding variables by name, reading them.
 *
 * Invariant: a name that is not there ends the test.
 */
#ifndef WEFT_TESTS_TOOL_H
#define WEFT_TESTS_TOOL_H

#include "check.h"

typedef unsigned long long count_t;

/* A call of MPI_T must return this code. */
#define CHECK_CODE(call, expected)                                                                 \
    do {                                                                                           \
        int tool_got_ = (call);                                                                    \
        CHECK(tool_got_ == (expected), "%s returned %d, expected %s (%d)", #call, tool_got_,       \
              #expected, (int)(expected));                                                         \
    } while (0)

__attribute__((unused)) static void tool_begin(void)
{
    int provided = -1;
    CHECK_CODE(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    CHECK(provided == MPI_THREAD_MULTIPLE, "MPI_T provides level %d", provided);
}

/* A handle of a control variable. */
__attribute__((unused)) static MPI_T_cvar_handle tool_cvar(const char *name)
{
    int index = -1, count = -1;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK_CODE(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
    CHECK_CODE(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_SUCCESS);
    CHECK(count > 0, "%s has %d elements", name, count);
    return handle;
}

/* Sets a variable that is a choice; returns the code. */
__attribute__((unused)) static int tool_set_choice(const char *name, int value)
{
    MPI_T_cvar_handle handle = tool_cvar(name);
    int code = MPI_T_cvar_write(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    return code;
}

/* The index of a performance variable of any class. */
__attribute__((unused)) static int tool_pvar_index(const char *name)
{
    int index = -1;
    for (int class = MPI_T_PVAR_CLASS_STATE; class <= MPI_T_PVAR_CLASS_GENERIC; class ++)
        if (MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS)
            return index;
    fprintf(stderr, "there is no performance variable %s\n", name);
    abort();
}

/* A handle, started unless the variable is continuous. */
__attribute__((unused)) static MPI_T_pvar_handle tool_pvar(MPI_T_pvar_session session,
                                                           const char *name, void *object)
{
    int count = 0, continuous = 0, index = tool_pvar_index(name);
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK_CODE(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                   NULL, &continuous, NULL),
               MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, object, &handle, &count), MPI_SUCCESS);
    if (!continuous)
        CHECK_CODE(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    return handle;
}

__attribute__((unused)) static count_t tool_read(MPI_T_pvar_session session,
                                                 MPI_T_pvar_handle handle)
{
    count_t value = ~0ull;
    CHECK_CODE(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    return value;
}

/* The messages in the queues of unexpected ones of this process. MPI_T must not be in use. */
__attribute__((unused)) static int64_t tool_unexpected(void)
{
    MPI_T_pvar_session session;
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle handle = tool_pvar(session, "weft_unexpected_queue", NULL);
    int64_t value = (int64_t)tool_read(session, handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return value;
}

#endif
