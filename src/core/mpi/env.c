// SPDX-License-Identifier: BSD-3-Clause
/*
 * Environment management (MPI 5.0 chapters 9 and 11): starting, ending, asking who and where.
 *
 * Invariant: the functions that MPI 5.0 section 11.4.1 allows at any time take no lock and touch
 * nothing that weft_init sets up, unless a pointer to a result is null, which they raise.
 */
#include "core/mpi/api.h"
#include "core/mpi/enter.h"
#include "core/object/error.h"
#include "core/process/hardware.h"
#include "core/object/info.h"
#include "core/process/weft.h"
#include "ofi/net.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <stdio.h>
#include <string.h>

int weft_api_unsupported(const char *function, MPI_Comm handle)
{
    struct weft_comm *comm = weft_comm_resolve(handle);
    if (weft_gate & WEFT_GATE_CLOSED)
        weft_fatal(MPI_ERR_UNSUPPORTED_OPERATION,
                   "%s is not supported by this version of Weft; docs/STATUS.md lists what is",
                   function);
    return weft_error(comm, MPI_ERR_UNSUPPORTED_OPERATION, function,
                      "%s is not supported by this version of Weft; docs/STATUS.md lists what is",
                      function);
}

/* Raises the error of a null pointer to a result, at any time. */
WEFT_COLD static int no_result(const char *function, const char *what)
{
    weft_enter_anytime();
    int code = weft_call_no_result(NULL, function, what);
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Init);
int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    int provided;
    weft_enter_anytime();
    int code = weft_init(MPI_THREAD_SINGLE, &provided);
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Init_thread);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    weft_enter_anytime();
    int code = weft_init(required, provided);
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Finalize);
int PMPI_Finalize(void)
{
    int code = weft_enter("MPI_Finalize");
    if (code)
        return code;
    weft_leave(); /* how it was entered: the gate changes below */
    weft_enter_anytime();
    code = weft_finalize();
    weft_leave_anytime();
    return code;
}

WEFT_EXPORT(Initialized);
int PMPI_Initialized(int *flag)
{
    if (!flag)
        return no_result("MPI_Initialized", "flag");
    *flag = weft_is_initialized();
    return MPI_SUCCESS;
}

WEFT_EXPORT(Finalized);
int PMPI_Finalized(int *flag)
{
    if (!flag)
        return no_result("MPI_Finalized", "flag");
    *flag = weft_is_finalized();
    return MPI_SUCCESS;
}

WEFT_EXPORT(Abort);
int PMPI_Abort(MPI_Comm handle, int code)
{
    (void)handle; /* MPI 5.0 section 9.4 asks for at least the group of comm: all of it */
    weft_fatal(code, "MPI_Abort was called with error code %d", code);
}

WEFT_EXPORT(Query_thread);
int PMPI_Query_thread(int *provided)
{
    if (!provided)
        return no_result("MPI_Query_thread", "thread level");
    *provided = weft.thread_level;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Is_thread_main);
int PMPI_Is_thread_main(int *flag)
{
    if (!flag)
        return no_result("MPI_Is_thread_main", "flag");
    *flag = weft_is_main_thread();
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_version);
int PMPI_Get_version(int *version, int *subversion)
{
    if (!version || !subversion)
        return no_result("MPI_Get_version", "version");
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_library_version);
int PMPI_Get_library_version(char *version, int *resultlen)
{
    if (!version || !resultlen)
        return no_result("MPI_Get_library_version", "version");
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                          "Weft " PACKAGE_VERSION ", MPI %d.%d standard ABI %d.%d", MPI_VERSION,
                          MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Abi_get_version);
int PMPI_Abi_get_version(int *major, int *minor)
{
    if (!major || !minor)
        return no_result("MPI_Abi_get_version", "version");
    *major = MPI_ABI_VERSION;
    *minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Get_processor_name);
int PMPI_Get_processor_name(char *name, int *resultlen)
{
    if (!name || !resultlen)
        return no_result("MPI_Get_processor_name", "name");
    int code = weft_enter("MPI_Get_processor_name");
    if (code)
        return code;
    *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", weft.job.host);
    if (*resultlen >= MPI_MAX_PROCESSOR_NAME)
        *resultlen = MPI_MAX_PROCESSOR_NAME - 1;
    weft_leave();
    return MPI_SUCCESS;
}

/* For profiling libraries, which define their own (MPI 5.0, 15.2.4). */
WEFT_EXPORT(Pcontrol);
int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Wtime);
double PMPI_Wtime(void)
{
    return weft_seconds();
}

WEFT_EXPORT(Wtick);
double PMPI_Wtick(void)
{
    return 1e-9;
}

WEFT_EXPORT(Get_hw_resource_info);
int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    const char *function = "MPI_Get_hw_resource_info";
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_info *info = hw_info ? weft_info_make() : NULL;
    code = !hw_info ? weft_error_set(MPI_ERR_ARG, "the pointer to the info object is null")
           : info   ? weft_info_set(info, "mpi_shared_memory", "true")
                    : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = weft_info_set(info, "hwloc://Machine", "true");
    for (int level = 0; code == MPI_SUCCESS && weft_hardware_type(level); level++)
        code = weft_info_set(info, weft_hardware_type(level),
                             weft_hardware_instance(level) < 0 ? "false" : "true");
    if (code == MPI_SUCCESS)
        *hw_info = (MPI_Info)info;
    else
        weft_info_free(info);
    if (code != MPI_SUCCESS)
        code = weft_error_raise(NULL, code, function);
    weft_leave();
    return code;
}
