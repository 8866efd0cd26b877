// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw, blocking, nonblocking and persistent. The forms with
 * int counts are generated, but for those with arrays of counts. Arguments go into a struct
 * weft_coll_call; coll_call.h has the rest.
 */
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"

WEFT_EXPORT(Alltoall_c);
int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two("MPI_Alltoall", WEFT_COLL_ALLTOALL, comm,
                                                     weft_coll_data(sendbuf, sendcount, sendtype),
                                                     weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ialltoall_c);
int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two("MPI_Ialltoall", WEFT_COLL_ALLTOALL, comm,
                                                     weft_coll_data(sendbuf, sendcount, sendtype),
                                                     weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Alltoall_init_c);
int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two("MPI_Alltoall_init", WEFT_COLL_ALLTOALL, comm,
                                                     weft_coll_data(sendbuf, sendcount, sendtype),
                                                     weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Alltoallv);
int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Alltoallv", WEFT_COLL_ALLTOALLV, comm,
                      weft_coll_vector(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Alltoallv_c);
int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Alltoallv", WEFT_COLL_ALLTOALLV, comm,
                      weft_coll_vector_c(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ialltoallv);
int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Ialltoallv", WEFT_COLL_ALLTOALLV, comm,
                      weft_coll_vector(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ialltoallv_c);
int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Ialltoallv", WEFT_COLL_ALLTOALLV, comm,
                      weft_coll_vector_c(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Alltoallv_init);
int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Alltoallv_init", WEFT_COLL_ALLTOALLV, comm,
                      weft_coll_vector(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Alltoallv_init_c);
int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Alltoallv_init", WEFT_COLL_ALLTOALLV, comm,
                      weft_coll_vector_c(sendbuf, sendcounts, sdispls, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, rdispls, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Alltoallw);
int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Alltoallw", WEFT_COLL_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_int(sendcounts), weft_coll_int(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_int(recvcounts), weft_coll_int(rdispls), recvtypes));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Alltoallw_c);
int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Alltoallw", WEFT_COLL_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_wide(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_wide(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ialltoallw);
int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Ialltoallw", WEFT_COLL_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_int(sendcounts), weft_coll_int(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_int(recvcounts), weft_coll_int(rdispls), recvtypes));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ialltoallw_c);
int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Ialltoallw", WEFT_COLL_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_wide(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_wide(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Alltoallw_init);
int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Alltoallw_init", WEFT_COLL_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_int(sendcounts), weft_coll_int(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_int(recvcounts), weft_coll_int(rdispls), recvtypes));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Alltoallw_init_c);
int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Alltoallw_init", WEFT_COLL_ALLTOALLW, comm,
        weft_coll_typed(sendbuf, weft_coll_wide(sendcounts), weft_coll_wide(sdispls), sendtypes),
        weft_coll_typed(recvbuf, weft_coll_wide(recvcounts), weft_coll_wide(rdispls), recvtypes));
    return weft_coll_persistent(&call, info, request);
}
