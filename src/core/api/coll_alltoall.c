// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw, blocking, nonblocking and persistent. The forms with
 * int counts are generated, but for those with arrays of counts. Arguments go into a struct
 * weft_coll_call; coll_call.h has the rest.
 */
#include "core/api/api.h"
#include "core/api/coll_call.h"

WEFT_EXPORT(Alltoall_c);
int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {
        .function = "MPI_Alltoall",
        .kind = WEFT_COLL_ALLTOALL,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Ialltoall_c);
int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Ialltoall",
        .kind = WEFT_COLL_ALLTOALL,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Alltoall_init_c);
int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {
        .function = "MPI_Alltoall_init",
        .kind = WEFT_COLL_ALLTOALL,
        .comm = comm,
        .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype},
        .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Alltoallv);
int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallv",
                                        .kind = WEFT_COLL_ALLTOALLV,
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

WEFT_EXPORT(Alltoallv_c);
int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallv",
                                        .kind = WEFT_COLL_ALLTOALLV,
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

WEFT_EXPORT(Ialltoallv);
int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ialltoallv",
                                        .kind = WEFT_COLL_ALLTOALLV,
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

WEFT_EXPORT(Ialltoallv_c);
int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ialltoallv",
                                        .kind = WEFT_COLL_ALLTOALLV,
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

WEFT_EXPORT(Alltoallv_init);
int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallv_init",
                                        .kind = WEFT_COLL_ALLTOALLV,
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

WEFT_EXPORT(Alltoallv_init_c);
int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallv_init",
                                        .kind = WEFT_COLL_ALLTOALLV,
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

WEFT_EXPORT(Alltoallw);
int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallw",
                                        .kind = WEFT_COLL_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, false},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, false},
                                                    .types = recvtypes}};
    return weft_coll_blocking(&call);
}

WEFT_EXPORT(Alltoallw_c);
int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallw",
                                        .kind = WEFT_COLL_ALLTOALLW,
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

WEFT_EXPORT(Ialltoallw);
int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ialltoallw",
                                        .kind = WEFT_COLL_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, false},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, false},
                                                    .types = recvtypes}};
    return weft_coll_nonblocking(&call, request);
}

WEFT_EXPORT(Ialltoallw_c);
int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Ialltoallw",
                                        .kind = WEFT_COLL_ALLTOALLW,
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

WEFT_EXPORT(Alltoallw_init);
int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallw_init",
                                        .kind = WEFT_COLL_ALLTOALLW,
                                        .comm = comm,
                                        .send = {.buffer = sendbuf,
                                                 .counts = {sendcounts, false},
                                                 .displs = {sdispls, false},
                                                 .types = sendtypes},
                                        .receive = {.buffer = recvbuf,
                                                    .counts = {recvcounts, false},
                                                    .displs = {rdispls, false},
                                                    .types = recvtypes}};
    return weft_coll_persistent(&call, info, request);
}

WEFT_EXPORT(Alltoallw_init_c);
int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    const struct weft_coll_call call = {.function = "MPI_Alltoallw_init",
                                        .kind = WEFT_COLL_ALLTOALLW,
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
