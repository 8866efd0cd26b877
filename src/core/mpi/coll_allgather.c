// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Allgather and MPI_Allgatherv, blocking, nonblocking and persistent. The forms with int counts
 * are generated, but for those with arrays of counts. Arguments go into a struct weft_coll_call;
 * coll_call.h has the rest.
 */
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"

WEFT_EXPORT(Allgather_c);
int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two("MPI_Allgather", WEFT_COLL_ALLGATHER, comm,
                                                     weft_coll_data(sendbuf, sendcount, sendtype),
                                                     weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iallgather_c);
int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two("MPI_Iallgather", WEFT_COLL_ALLGATHER, comm,
                                                     weft_coll_data(sendbuf, sendcount, sendtype),
                                                     weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Allgather_init_c);
int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Allgather_init", WEFT_COLL_ALLGATHER, comm,
        weft_coll_data(sendbuf, sendcount, sendtype), weft_coll_data(recvbuf, recvcount, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Allgatherv);
int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Allgatherv", WEFT_COLL_ALLGATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Allgatherv_c);
int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Allgatherv", WEFT_COLL_ALLGATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Iallgatherv);
int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Iallgatherv", WEFT_COLL_ALLGATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Iallgatherv_c);
int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = weft_coll_two(
        "MPI_Iallgatherv", WEFT_COLL_ALLGATHERV, comm, weft_coll_data(sendbuf, sendcount, sendtype),
        weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Allgatherv_init);
int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Allgatherv_init", WEFT_COLL_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Allgatherv_init_c);
int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    const struct weft_coll_call call =
        weft_coll_two("MPI_Allgatherv_init", WEFT_COLL_ALLGATHERV, comm,
                      weft_coll_data(sendbuf, sendcount, sendtype),
                      weft_coll_vector_c(recvbuf, recvcounts, displs, recvtype));
    return weft_coll_persistent(&call, info, request);
}
