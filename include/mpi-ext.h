// SPDX-License-Identifier: BSD-3-Clause
/*
 * Extensions under the names that programs find in Open MPI's header: the error classes of processes
 * that fail, and the queries before a program passes buffers in GPU memory. A query reads the info
 * key mpi_memory_alloc_kinds of MPI_COMM_WORLD; before MPI_Init and after MPI_Finalize it returns 0.
 */
#ifndef WEFT_MPI_EXT_H
#define WEFT_MPI_EXT_H

#include <mpi.h>
#include <string.h>

#define MPI_ERR_PROC_FAILED         MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED             MPIX_ERR_REVOKED

#define MPIX_CUDA_AWARE_SUPPORT 1
#define MPIX_ROCM_AWARE_SUPPORT 1

static inline int weft_query_memory_kind(const char *kind)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int begun = 0, ended = 0, length = (int)sizeof value, found = 0;
    MPI_Info info;
    if (MPI_Initialized(&begun) || MPI_Finalized(&ended) || !begun || ended ||
        MPI_Comm_get_info(MPI_COMM_WORLD, &info))
        return 0;
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &found);
    MPI_Info_free(&info);
    return found && strstr(value, kind) != NULL;
}

/* 1 if buffers may be in memory that CUDA allocates: the program has loaded the driver. */
static inline int MPIX_Query_cuda_support(void)
{
    return weft_query_memory_kind("cuda");
}

/* The same for HIP. */
static inline int MPIX_Query_rocm_support(void)
{
    return weft_query_memory_kind("rocm");
}

#endif
