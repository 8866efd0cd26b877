// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Gather, MPI_Gatherv, MPI_Scatter, MPI_Scatterv, blocking, nonblocking and persistent. The
 * forms with int counts are generated, but for those with arrays of counts. Arguments go into a
 * struct weft_coll_call; coll_call.h has the rest.
 */
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"

WEFT_EXPORT(Gather_c);
int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Gather", WEFT_COLL_GATHER, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Igather_c);
int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Igather", WEFT_COLL_GATHER, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Gather_init_c);
int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Gather_init", WEFT_COLL_GATHER, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Gatherv);
int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Gatherv", WEFT_COLL_GATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector(recvbuf, recvcounts, displs, recvtype), root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Gatherv_c);
int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Gatherv", WEFT_COLL_GATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype), root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Igatherv);
int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Igatherv", WEFT_COLL_GATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector(recvbuf, recvcounts, displs, recvtype), root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Igatherv_c);
int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Igatherv", WEFT_COLL_GATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype), root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Gatherv_init);
int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Gatherv_init", WEFT_COLL_GATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector(recvbuf, recvcounts, displs, recvtype), root);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Gatherv_init_c);
int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Gatherv_init", WEFT_COLL_GATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype), root);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Scatter_c);
int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Scatter", WEFT_COLL_SCATTER, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iscatter_c);
int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Iscatter", WEFT_COLL_SCATTER, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Scatter_init_c);
int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_rooted(
        "MPI_Scatter_init", WEFT_COLL_SCATTER, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Scatterv);
int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_rooted("MPI_Scatterv", WEFT_COLL_SCATTERV, comm,
                         weft_coll_vector(sendbuf, sendcounts, displs, sendtype),
                         weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Scatterv_c);
int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_rooted("MPI_Scatterv", WEFT_COLL_SCATTERV, comm,
                         weft_coll_vector_c(sendbuf, sendcounts, displs, sendtype),
                         weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iscatterv);
int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_rooted("MPI_Iscatterv", WEFT_COLL_SCATTERV, comm,
                         weft_coll_vector(sendbuf, sendcounts, displs, sendtype),
                         weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Iscatterv_c);
int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_rooted("MPI_Iscatterv", WEFT_COLL_SCATTERV, comm,
                         weft_coll_vector_c(sendbuf, sendcounts, displs, sendtype),
                         weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Scatterv_init);
int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                       MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_rooted("MPI_Scatterv_init", WEFT_COLL_SCATTERV, comm,
                         weft_coll_vector(sendbuf, sendcounts, displs, sendtype),
                         weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Scatterv_init_c);
int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_rooted("MPI_Scatterv_init", WEFT_COLL_SCATTERV, comm,
                         weft_coll_vector_c(sendbuf, sendcounts, displs, sendtype),
                         weft_coll_data(recvbuf, recvcount, recvtype), root);
    return weft_coll_persistent(&call, info, request);
}
