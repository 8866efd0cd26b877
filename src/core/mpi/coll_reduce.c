// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter and its _block form, MPI_Scan, MPI_Exscan,
 * blocking, nonblocking and persistent. The forms with int counts are generated, but for those with
 * arrays of counts. Arguments go into a struct weft_coll_call; coll_call.h has the rest.
 */
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"

WEFT_EXPORT(Reduce_c);
int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Reduce", WEFT_COLL_REDUCE, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ireduce_c);
int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Ireduce", WEFT_COLL_REDUCE, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Reduce_init_c);
int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Reduce_init", WEFT_COLL_REDUCE, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, root);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Allreduce_c);
int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Allreduce", WEFT_COLL_ALLREDUCE, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iallreduce_c);
int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Iallreduce", WEFT_COLL_ALLREDUCE, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Allreduce_init_c);
int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Allreduce_init", WEFT_COLL_ALLREDUCE, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Reduce_scatter);
int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Reduce_scatter",
        .kind = WEFT_COLL_REDUCE_SCATTER,
        .comm = comm,
        .send = {.buffer = sendbuf, .type = datatype},
        .receive = {.buffer = recvbuf, .counts = {recvcounts, false}},
        .op = op};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Reduce_scatter_c);
int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Reduce_scatter",
        .kind = WEFT_COLL_REDUCE_SCATTER,
        .comm = comm,
        .send = {.buffer = sendbuf, .type = datatype},
        .receive = {.buffer = recvbuf, .counts = {recvcounts, true}},
        .op = op};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ireduce_scatter);
int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ireduce_scatter",
        .kind = WEFT_COLL_REDUCE_SCATTER,
        .comm = comm,
        .send = {.buffer = sendbuf, .type = datatype},
        .receive = {.buffer = recvbuf, .counts = {recvcounts, false}},
        .op = op};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ireduce_scatter_c);
int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ireduce_scatter",
        .kind = WEFT_COLL_REDUCE_SCATTER,
        .comm = comm,
        .send = {.buffer = sendbuf, .type = datatype},
        .receive = {.buffer = recvbuf, .counts = {recvcounts, true}},
        .op = op};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Reduce_scatter_init);
int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Reduce_scatter_init",
        .kind = WEFT_COLL_REDUCE_SCATTER,
        .comm = comm,
        .send = {.buffer = sendbuf, .type = datatype},
        .receive = {.buffer = recvbuf, .counts = {recvcounts, false}},
        .op = op};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Reduce_scatter_init_c);
int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Reduce_scatter_init",
        .kind = WEFT_COLL_REDUCE_SCATTER,
        .comm = comm,
        .send = {.buffer = sendbuf, .type = datatype},
        .receive = {.buffer = recvbuf, .counts = {recvcounts, true}},
        .op = op};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Reduce_scatter_block_c);
int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Reduce_scatter_block",
                                        .kind = WEFT_COLL_REDUCE_SCATTER_BLOCK,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf, .type = datatype},
                                        .receive = {.buffer = recvbuf, .count = recvcount},
                                        .op = op};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ireduce_scatter_block_c);
int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ireduce_scatter_block",
                                        .kind = WEFT_COLL_REDUCE_SCATTER_BLOCK,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf, .type = datatype},
                                        .receive = {.buffer = recvbuf, .count = recvcount},
                                        .op = op};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Reduce_scatter_block_init_c);
int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Reduce_scatter_block_init",
                                        .kind = WEFT_COLL_REDUCE_SCATTER_BLOCK,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf, .type = datatype},
                                        .receive = {.buffer = recvbuf, .count = recvcount},
                                        .op = op};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Scan_c);
int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_reduction(
        "MPI_Scan", WEFT_COLL_SCAN, comm, weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iscan_c);
int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Iscan", WEFT_COLL_SCAN, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Scan_init_c);
int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Scan_init", WEFT_COLL_SCAN, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Exscan_c);
int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Exscan", WEFT_COLL_EXSCAN, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iexscan_c);
int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Iexscan", WEFT_COLL_EXSCAN, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Exscan_init_c);
int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_reduction("MPI_Exscan_init", WEFT_COLL_EXSCAN, comm,
                            weft_coll_data(sendbuf, count, datatype), recvbuf, op, 0);
    return weft_coll_persistent(&call, info, request);
}
