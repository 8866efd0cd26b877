// SPDX-License-Identifier: BSD-3-Clause
/*
 * Neighbourhood collectives, blocking, nonblocking and persistent. The forms with int counts are
 * generated, but for those with arrays of counts. Arguments go into a struct weft_coll_call;
 * coll_call.h has the rest.
 */
#include "core/api/api.h"
#include "core/api/coll_call.h"

WEFT_EXPORT(Neighbor_allgather_c);
int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_allgather",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHER,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_allgather_c);
int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ineighbor_allgather",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHER,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_allgather_init_c);
int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_allgather_init",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHER,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_allgatherv);
int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_allgatherv",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHERV,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf,
                    .type = recvtype,
                    .counts = {recvcounts, false},
                    .displs = {displs, false}}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Neighbor_allgatherv_c);
int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_allgatherv",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHERV,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf,
                    .type = recvtype,
                    .counts = {recvcounts, true},
                    .displs = {displs, true}}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_allgatherv);
int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ineighbor_allgatherv",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHERV,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf,
                    .type = recvtype,
                    .counts = {recvcounts, false},
                    .displs = {displs, false}}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ineighbor_allgatherv_c);
int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ineighbor_allgatherv",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHERV,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf,
                    .type = recvtype,
                    .counts = {recvcounts, true},
                    .displs = {displs, true}}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_allgatherv_init);
int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_allgatherv_init",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHERV,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf,
                    .type = recvtype,
                    .counts = {recvcounts, false},
                    .displs = {displs, false}}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_allgatherv_init_c);
int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_allgatherv_init",
        .kind = WEFT_COLL_NEIGHBOR_ALLGATHERV,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf,
                    .type = recvtype,
                    .counts = {recvcounts, true},
                    .displs = {displs, true}}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoall_c);
int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_alltoall",
        .kind = WEFT_COLL_NEIGHBOR_ALLTOALL,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_alltoall_c);
int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ineighbor_alltoall",
        .kind = WEFT_COLL_NEIGHBOR_ALLTOALL,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_alltoall_init_c);
int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Neighbor_alltoall_init",
        .kind = WEFT_COLL_NEIGHBOR_ALLTOALL,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallv);
int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallv",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLV,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .type = sendtype,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, false}},
                                        .receive = {.buffer = recvbuf,
                                                    .type = recvtype,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, false}}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Neighbor_alltoallv_c);
int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallv",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLV,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .type = sendtype,
                                                 .counts = {sendcounts, true},
                                                 .displs = {sdispls, true}},
                                        .receive = {.buffer = recvbuf,
                                                    .type = recvtype,
                                                    .counts = {recvcounts, true},
                                                    .displs = {rdispls, true}}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_alltoallv);
int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ineighbor_alltoallv",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLV,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .type = sendtype,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, false}},
                                        .receive = {.buffer = recvbuf,
                                                    .type = recvtype,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, false}}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ineighbor_alltoallv_c);
int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ineighbor_alltoallv",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLV,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .type = sendtype,
                                                 .counts = {sendcounts, true},
                                                 .displs = {sdispls, true}},
                                        .receive = {.buffer = recvbuf,
                                                    .type = recvtype,
                                                    .counts = {recvcounts, true},
                                                    .displs = {rdispls, true}}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_alltoallv_init);
int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallv_init",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLV,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .type = sendtype,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, false}},
                                        .receive = {.buffer = recvbuf,
                                                    .type = recvtype,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, false}}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallv_init_c);
int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallv_init",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLV,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .type = sendtype,
                                                 .counts = {sendcounts, true},
                                                 .displs = {sdispls, true}},
                                        .receive = {.buffer = recvbuf,
                                                    .type = recvtype,
                                                    .counts = {recvcounts, true},
                                                    .displs = {rdispls, true}}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallw);
int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallw",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, true},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, true},
                                                    .types = recvtypes}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Neighbor_alltoallw_c);
int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallw",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, true},
                                                 .displs = {sdispls, true},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, true},
                                                    .displs = {rdispls, true},
                                                    .types = recvtypes}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ineighbor_alltoallw);
int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ineighbor_alltoallw",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, true},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, true},
                                                    .types = recvtypes}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ineighbor_alltoallw_c);
int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ineighbor_alltoallw",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, true},
                                                 .displs = {sdispls, true},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, true},
                                                    .displs = {rdispls, true},
                                                    .types = recvtypes}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Neighbor_alltoallw_init);
int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallw_init",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, true},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, true},
                                                    .types = recvtypes}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Neighbor_alltoallw_init_c);
int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Neighbor_alltoallw_init",
                                        .kind = WEFT_COLL_NEIGHBOR_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, true},
                                                 .displs = {sdispls, true},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, true},
                                                    .displs = {rdispls, true},
                                                    .types = recvtypes}};
    return weft_coll_persistent(&call, info, request);
}
