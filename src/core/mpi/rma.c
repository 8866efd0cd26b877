// SPDX-License-Identifier: BSD-3-Clause
/*
 * One-sided operations: the entry points. See rma_call.h.
 */
#include "core/mpi/api.h"
#include "core/mpi/rma_call.h"

WEFT_EXPORT(Put_c);
int PMPI_Put_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
               MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Win win)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Put",
                                           .kind = WEFT_RMA_PUT,
                                           .origin = {origin, origin_count, origin_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .win = win};
    return weft_rma_call(&arguments, false, NULL);
}

WEFT_EXPORT(Get_c);
int PMPI_Get_c(void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
               MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Win win)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Get",
                                           .kind = WEFT_RMA_GET,
                                           .origin = {origin, origin_count, origin_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .win = win};
    return weft_rma_call(&arguments, false, NULL);
}

WEFT_EXPORT(Accumulate_c);
int PMPI_Accumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type,
                      int target, MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Win win)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Accumulate",
                                           .kind = WEFT_RMA_ACCUMULATE,
                                           .origin = {origin, origin_count, origin_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .op = op,
                                           .win = win};
    return weft_rma_call(&arguments, false, NULL);
}

WEFT_EXPORT(Get_accumulate_c);
int PMPI_Get_accumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type,
                          void *result, MPI_Count result_count, MPI_Datatype result_type,
                          int target, MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Win win)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Get_accumulate",
                                           .kind = WEFT_RMA_GET_ACCUMULATE,
                                           .origin = {origin, origin_count, origin_type},
                                           .result = {result, result_count, result_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .op = op,
                                           .win = win};
    return weft_rma_call(&arguments, false, NULL);
}

WEFT_EXPORT(Rput_c);
int PMPI_Rput_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
                MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Win win,
                MPI_Request *request)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Rput",
                                           .kind = WEFT_RMA_PUT,
                                           .origin = {origin, origin_count, origin_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .win = win};
    return weft_rma_call(&arguments, true, request);
}

WEFT_EXPORT(Rget_c);
int PMPI_Rget_c(void *origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
                MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Win win,
                MPI_Request *request)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Rget",
                                           .kind = WEFT_RMA_GET,
                                           .origin = {origin, origin_count, origin_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .win = win};
    return weft_rma_call(&arguments, true, request);
}

WEFT_EXPORT(Raccumulate_c);
int PMPI_Raccumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type,
                       int target, MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op,
                       MPI_Win win, MPI_Request *request)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Raccumulate",
                                           .kind = WEFT_RMA_ACCUMULATE,
                                           .origin = {origin, origin_count, origin_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .op = op,
                                           .win = win};
    return weft_rma_call(&arguments, true, request);
}

WEFT_EXPORT(Rget_accumulate_c);
int PMPI_Rget_accumulate_c(const void *origin, MPI_Count origin_count, MPI_Datatype origin_type,
                           void *result, MPI_Count result_count, MPI_Datatype result_type,
                           int target, MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op,
                           MPI_Win win, MPI_Request *request)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Rget_accumulate",
                                           .kind = WEFT_RMA_GET_ACCUMULATE,
                                           .origin = {origin, origin_count, origin_type},
                                           .result = {result, result_count, result_type},
                                           .target = target,
                                           .disp = disp,
                                           .count = count,
                                           .type = type,
                                           .op = op,
                                           .win = win};
    return weft_rma_call(&arguments, true, request);
}

WEFT_EXPORT(Fetch_and_op);
int PMPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target,
                      MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Fetch_and_op",
                                           .kind = WEFT_RMA_GET_ACCUMULATE,
                                           .origin = {origin, 1, type},
                                           .result = {result, 1, type},
                                           .target = target,
                                           .disp = disp,
                                           .count = 1,
                                           .type = type,
                                           .op = op,
                                           .win = win};
    return weft_rma_call(&arguments, false, NULL);
}

WEFT_EXPORT(Compare_and_swap);
int PMPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                          int target, MPI_Aint disp, MPI_Win win)
{
    struct weft_rma_arguments arguments = {.function = "MPI_Compare_and_swap",
                                           .kind = WEFT_RMA_COMPARE_AND_SWAP,
                                           .origin = {origin, 1, type},
                                           .result = {result, 1, type},
                                           .compare = compare,
                                           .target = target,
                                           .disp = disp,
                                           .count = 1,
                                           .type = type,
                                           .win = win};
    return weft_rma_call(&arguments, false, NULL);
}
