// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point entry points (MPI 5.0 chapter 3). A standard send or receive makes one fast
 * attempt (p2p_fast.h); everything else takes the general path (p2p_general.h).
 */
#include "core/mpi/api.h"
#include "core/mpi/p2p_fast.h"
#include "core/mpi/p2p_general.h"

/* ---- One function for each operation, part of both its entry points: the one with an int count
 * and the one with an MPI_Count. */

static inline __attribute__((always_inline)) int
send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm handle)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!weft_fast_check_send(comm, buf, count, datatype, dest, tag, &bytes)))
        return weft_general_send(buf, count, datatype, dest, tag, handle);
    return weft_fast_send(comm, buf, bytes, dest, tag);
}

static inline __attribute__((always_inline)) int isend(const void *buf, MPI_Count count,
                                                       MPI_Datatype datatype, int dest, int tag,
                                                       MPI_Comm handle, MPI_Request *request)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!weft_fast_check_send(comm, buf, count, datatype, dest, tag, &bytes)) ||
        weft_unlikely(!request))
        return weft_general_isend(buf, count, datatype, dest, tag, handle, request);
    return weft_fast_isend(comm, buf, bytes, dest, tag, request);
}

static inline __attribute__((always_inline)) int recv(void *buf, MPI_Count count,
                                                      MPI_Datatype datatype, int source, int tag,
                                                      MPI_Comm handle, MPI_Status *status)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!weft_fast_check_receive(comm, buf, count, datatype, source, tag, &bytes)))
        return weft_general_recv(buf, count, datatype, source, tag, handle, status);
    return weft_fast_recv(comm, buf, bytes, source, tag, status);
}

static inline __attribute__((always_inline)) int irecv(void *buf, MPI_Count count,
                                                       MPI_Datatype datatype, int source, int tag,
                                                       MPI_Comm handle, MPI_Request *request)
{
    size_t bytes;
    struct weft_comm *comm = weft_likely(!weft_entry_flags) ? weft_fast_comm(handle) : NULL;
    if (weft_unlikely(!weft_fast_check_receive(comm, buf, count, datatype, source, tag, &bytes)) ||
        weft_unlikely(!request))
        return weft_general_irecv(buf, count, datatype, source, tag, handle, request);
    return weft_fast_irecv(comm, buf, bytes, source, tag, request);
}

/* ---- Entry points */

WEFT_EXPORT(Send);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Send_c);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    return send(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Isend);
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return isend(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Isend_c);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return isend(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Recv);
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    return recv(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    return recv(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Irecv);
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return irecv(buf, count, datatype, source, tag, comm, request);
}

WEFT_EXPORT(Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return irecv(buf, count, datatype, source, tag, comm, request);
}
