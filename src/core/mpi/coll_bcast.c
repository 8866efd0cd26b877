// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Barrier and MPI_Bcast, blocking, nonblocking and persistent. The forms with int counts are
 * generated, but for those with arrays of counts. Arguments go into a struct weft_coll_call;
 * coll_call.h has the rest.
 */
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"

WEFT_EXPORT(Barrier);
int PMPI_Barrier(MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Barrier", .kind = WEFT_COLL_BARRIER, .comm = comm};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ibarrier);
int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ibarrier", .kind = WEFT_COLL_BARRIER, .comm = comm};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Barrier_init);
int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Barrier_init", .kind = WEFT_COLL_BARRIER, .comm = comm};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Bcast_c);
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Bcast",
                                        .kind = WEFT_COLL_BCAST,
                                        .comm = comm,
                                        .send = weft_coll_data(buffer, count, datatype),
                                        .root = root};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ibcast_c);
int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ibcast",
                                        .kind = WEFT_COLL_BCAST,
                                        .comm = comm,
                                        .send = weft_coll_data(buffer, count, datatype),
                                        .root = root};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Bcast_init_c);
int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Bcast_init",
                                        .kind = WEFT_COLL_BCAST,
                                        .comm = comm,
                                        .send = weft_coll_data(buffer, count, datatype),
                                        .root = root};
    return weft_coll_persistent(&call, info, request);
}
