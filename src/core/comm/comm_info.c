// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hints on communicators (MPI 5.0 section 7.4.4). The standard's assertions are stored and returned
 * by MPI_Comm_get_info. The first two may spread messages over VCIs, if they are made with the
 * communicator (spread.h), and buffers that are asserted to be on the host are not classified
 * (gpu/kinds.h); otherwise assertions change nothing. Other hints are ignored.
 *
 * Invariants:
 *  - Bit i of comm->assertions is set exactly if the user has asserted names[i].
 *  - An assertion that spreads the messages of a communicator stays: so do its channels.
 */
#include "core/comm/spread.h"
#include "core/base/info.h"
#include "gpu/kinds.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                    "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
                                    "mpi_assert_strict_persistent_collective_ordering"};
enum { NAMES = sizeof names / sizeof names[0] };

/* The assertion that an open communicator relies on, as a bit. */
static unsigned relied_on(const struct weft_comm *comm)
{
    if (!comm->spread)
        return 0;
    return comm->spread_rule == WEFT_SPREAD_BY_TAG ? WEFT_ASSERT_NO_ANY_TAG
                                                   : WEFT_ASSERT_NO_ANY_SOURCE;
}

static void take_kinds(struct weft_comm *comm, const char *kinds)
{
    enum weft_gpu_kinds memory = weft_gpu_check_kinds(kinds);
    char *copy = memory == WEFT_GPU_KINDS_UNSUPPORTED ? NULL : strdup(kinds);
    if (!copy)
        return;
    free(comm->kinds);
    comm->kinds = copy;
    comm->host_only = memory == WEFT_GPU_KINDS_HOST;
}

int weft_comm_take_hints(struct weft_comm *comm, const struct weft_info *info)
{
    for (unsigned i = 0; i < NAMES; i++) {
        const char *value = weft_info_get(info, names[i]);
        if (value && !strcmp(value, "true"))
            comm->assertions |= 1u << i;
        else if (value && !strcmp(value, "false"))
            comm->assertions &= ~(1u << i) | relied_on(comm);
    }
    take_kinds(comm, weft_info_get(info, WEFT_ASSERT_KINDS));
    return MPI_SUCCESS;
}

struct weft_info *weft_comm_hints(const struct weft_comm *comm)
{
    struct weft_info *info = weft_info_make();
    bool well = info && !weft_info_set(info, "mpi_memory_alloc_kinds", weft_gpu_supported_kinds());
    for (unsigned i = 0; well && i < NAMES; i++)
        well = !weft_info_set(info, names[i], comm->assertions & 1u << i ? "true" : "false");
    if (well && comm->kinds)
        well = !weft_info_set(info, WEFT_ASSERT_KINDS, comm->kinds);
    if (well)
        return info;
    weft_info_free(info);
    return NULL;
}
