// SPDX-License-Identifier: BSD-3-Clause
/*
 * Environment management (MPI 5.0 chapters 9 and 11): start, end, and queries of the process.
 *
 * Invariant: the functions that MPI 5.0 section 11.4.1 allows at any time take no lock and touch
 * nothing that weft_init sets up, unless a pointer to a result is null, which they raise.
 */
#include "core/mpi/api.h"
#include "core/mpi/entry.h"
#include "core/comm/raise.h"
#include "core/comm/hardware.h"
#include "core/base/info.h"
#include "core/comm/nodes.h"
#include "core/process/weft.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <stdio.h>
#include <string.h>

int weft_api_unsupported(const char *function, MPI_Comm handle)
{
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (weft_entry_flags & WEFT_ENTRY_CLOSED)
        weft_fatal(MPI_ERR_UNSUPPORTED_OPERATION,
                   "%s is not supported by this version of Weft; docs/STATUS.md lists what is",
                   function);
    return weft_error(comm, MPI_ERR_UNSUPPORTED_OPERATION, function,
                      "%s is not supported by this version of Weft; docs/STATUS.md lists what is",
                      function);
}

WEFT_EXPORT(Finalize);
int PMPI_Finalize(void)
{
    int code = weft_enter("MPI_Finalize");
    if (code)
        return code;
    weft_leave(); /* how it was entered: the entry flags change below */
    weft_vcis_enter();
    code = weft_callback_check(NULL, MPI_ERR_OTHER, "MPI cannot be finalized");
    if (code != MPI_SUCCESS)
        return weft_vcis_leave_with(code, "MPI_Finalize");
    code = weft_finalize();
    weft_vcis_leave();
    return code;
}

WEFT_EXPORT(Abort);
int PMPI_Abort(MPI_Comm handle, int code)
{
    /* MPI 5.0 section 9.4 requires to end at least the group of comm: all ranks of this job end,
     * and those of other jobs that are in comm. */
    bool active = !(weft_entry_flags & (WEFT_ENTRY_CLOSED | WEFT_ENTRY_FORKED));
    struct weft_comm *comm = active ? weft_comm_resolve(handle) : NULL;
    if (comm && weft_comm_is_foreign(comm) && weft_vcis_try())
        weft_comm_abort_foreign(comm, code);
    weft_fatal(code, "MPI_Abort was called with error code %d%s", code,
               weft_check_forked() ? " by a forked child of this rank, which ends alone" : "");
}

/* For profiling libraries, which define their own (MPI 5.0, 15.2.4). */
WEFT_EXPORT(Pcontrol);
int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}

void weft_mpi_get_library_version(char *version, int *length)
{
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                       "Weft " PACKAGE_VERSION ", MPI %d.%d standard ABI %d.%d", MPI_VERSION,
                       MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
}

void weft_mpi_get_processor_name(char *name, int *length)
{
    *length = weft_nodes_name(name, MPI_MAX_PROCESSOR_NAME);
    if (*length >= MPI_MAX_PROCESSOR_NAME)
        *length = MPI_MAX_PROCESSOR_NAME - 1;
}

int weft_mpi_describe_hardware(struct weft_info **made)
{
    struct weft_info *info = weft_info_make();
    int code = info ? weft_info_set(info, "mpi_shared_memory", "true") : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = weft_info_set(info, "hwloc://Machine", "true");
    for (int level = 0; code == MPI_SUCCESS && weft_hardware_type(level); level++)
        code = weft_info_set(info, weft_hardware_type(level),
                             weft_hardware_instance(level) < 0 ? "false" : "true");
    if (code == MPI_SUCCESS)
        *made = info;
    else
        weft_info_free(info);
    return code;
}
