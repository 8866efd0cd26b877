// SPDX-License-Identifier: BSD-3-Clause
/*
 * Neighbourhood collectives, blocking, nonblocking and persistent. The forms with int counts are
 * generated, but for those with arrays of counts. Arguments go into a struct weft_coll_call;
 * coll_call.h has the rest.
 */
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"

WEFT_EXPORT(Neighbor_allgather_c);
int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_allgather", WEFT_COLL_NEIGHBOR_ALLGATHER, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_allgather_c);
int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Ineighbor_allgather", WEFT_COLL_NEIGHBOR_ALLGATHER, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_allgather_init_c);
int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_allgather_init", WEFT_COLL_NEIGHBOR_ALLGATHER, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_allgatherv);
int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_allgatherv", WEFT_COLL_NEIGHBOR_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Neighbor_allgatherv_c);
int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_allgatherv", WEFT_COLL_NEIGHBOR_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_allgatherv);
int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Ineighbor_allgatherv", WEFT_COLL_NEIGHBOR_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ineighbor_allgatherv_c);
int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Ineighbor_allgatherv", WEFT_COLL_NEIGHBOR_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_allgatherv_init);
int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_allgatherv_init", WEFT_COLL_NEIGHBOR_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_allgatherv_init_c);
int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_allgatherv_init", WEFT_COLL_NEIGHBOR_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoall_c);
int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_alltoall", WEFT_COLL_NEIGHBOR_ALLTOALL, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_alltoall_c);
int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Ineighbor_alltoall", WEFT_COLL_NEIGHBOR_ALLTOALL, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_alltoall_init_c);
int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_alltoall_init", WEFT_COLL_NEIGHBOR_ALLTOALL, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallv);
int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_alltoallv", WEFT_COLL_NEIGHBOR_ALLTOALLV, comm,
                      weft_coll_vector(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Neighbor_alltoallv_c);
int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_alltoallv", WEFT_COLL_NEIGHBOR_ALLTOALLV, comm,
                      weft_coll_vector_c(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_alltoallv);
int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Ineighbor_alltoallv", WEFT_COLL_NEIGHBOR_ALLTOALLV, comm,
                      weft_coll_vector(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ineighbor_alltoallv_c);
int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Ineighbor_alltoallv", WEFT_COLL_NEIGHBOR_ALLTOALLV, comm,
                      weft_coll_vector_c(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_alltoallv_init);
int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_alltoallv_init", WEFT_COLL_NEIGHBOR_ALLTOALLV, comm,
                      weft_coll_vector(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallv_init_c);
int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Neighbor_alltoallv_init", WEFT_COLL_NEIGHBOR_ALLTOALLV, comm,
                      weft_coll_vector_c(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallw);
int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_alltoallw", WEFT_COLL_NEIGHBOR_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_int(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_int(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Neighbor_alltoallw_c);
int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_alltoallw", WEFT_COLL_NEIGHBOR_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_wide(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_wide(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_alltoallw);
int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Ineighbor_alltoallw", WEFT_COLL_NEIGHBOR_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_int(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_int(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ineighbor_alltoallw_c);
int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Ineighbor_alltoallw", WEFT_COLL_NEIGHBOR_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_wide(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_wide(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_alltoallw_init);
int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_alltoallw_init", WEFT_COLL_NEIGHBOR_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_int(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_int(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallw_init_c);
int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Neighbor_alltoallw_init", WEFT_COLL_NEIGHBOR_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_wide(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_wide(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_persistent(&call, info, request);
}
