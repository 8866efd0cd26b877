// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point entry points (MPI 5.0 chapter 3).
 *
 * Every call with a fast path (p2p_fast.h) tries it first. Whatever it does not take goes the long way
 * (p2p_long.h), which checks again, in the order of the arguments, and explains.
 */
#include "core/mpi/api.h"
#include "core/mpi/p2p_fast.h"
#include "core/mpi/p2p_long.h"

/* The calls with int counts stand beside those with large ones, so that both have the fast path. */

WEFT_EXPORT(Send);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    int code;
    if (weft_likely(send_fast(buf, (uint32_t)count, datatype, dest, tag, weft_send_tags, comm,
                              &code, false)))
        return code;
    return weft_long_send(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Send_c);
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    int code;
    if (weft_likely(is_int(count) && send_fast(buf, (uint32_t)count, datatype, dest, tag,
                                               weft_send_tags, comm, &code, false)))
        return code;
    return weft_long_send(buf, count, datatype, dest, tag, comm);
}

WEFT_EXPORT(Ssend_c);
int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    const struct weft_call call = {"MPI_Ssend", buf, count, datatype, dest, tag, comm};
    return weft_long_send_mode(&call, WEFT_SEND_SYNCHRONOUS);
}

WEFT_EXPORT(Rsend_c);
int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    const struct weft_call call = {"MPI_Rsend", buf, count, datatype, dest, tag, comm};
    return weft_long_send_mode(&call, WEFT_SEND_READY);
}

WEFT_EXPORT(Isend);
int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    int code;
    uint64_t many = index_of(count);
    if (weft_likely(isend_fast(buf, many, datatype, dest, tag, weft_send_tags, comm, request, &code,
                               false)))
        return code;
    return weft_long_isend(buf, (int)many, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Isend_c);
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(is_int(count) && isend_fast(buf, (uint32_t)count, datatype, dest, tag,
                                                weft_send_tags, comm, request, &code, false)))
        return code;
    return weft_long_isend(buf, count, datatype, dest, tag, comm, request);
}

WEFT_EXPORT(Issend_c);
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    const struct weft_call call = {"MPI_Issend", buf, count, datatype, dest, tag, comm};
    return weft_long_isend_mode(&call, WEFT_SEND_SYNCHRONOUS, request);
}

WEFT_EXPORT(Irsend_c);
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    const struct weft_call call = {"MPI_Irsend", buf, count, datatype, dest, tag, comm};
    return weft_long_isend_mode(&call, WEFT_SEND_READY, request);
}

WEFT_EXPORT(Recv);
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    int code;
    if (recv_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag, weft_receive_tags, &comm,
                  status, true, &code))
        return code;
    return weft_long_recv(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Recv_c);
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    int code;
    if (is_int(count) && recv_fast(buf, (uint32_t)count, datatype, (uint32_t)source, tag,
                                   weft_receive_tags, &comm, status, true, &code))
        return code;
    return weft_long_recv(buf, count, datatype, source, tag, comm, status);
}

WEFT_EXPORT(Irecv);
int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    int code;
    uint64_t from = index_of(source);
    if (weft_likely(irecv_fast(buf, (uint32_t)count, datatype, from, tag, weft_receive_tags, &comm,
                               &request, &code)))
        return code;
    return weft_long_irecv(buf, count, datatype, (int)from, tag, comm, request);
}

WEFT_EXPORT(Irecv_c);
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    int code;
    if (weft_likely(is_int(count) && irecv_fast(buf, (uint32_t)count, datatype, (uint32_t)source,
                                                tag, weft_receive_tags, &comm, &request, &code)))
        return code;
    return weft_long_irecv(buf, count, datatype, source, tag, comm, request);
}
