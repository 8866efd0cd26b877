// SPDX-License-Identifier: BSD-3-Clause
/*
 * The general path of point-to-point calls (MPI 5.0 chapter 3): checks the arguments in their
 * order, raises the error of the first wrong one, and calls the core.
 *
 * All functions return what the entry point returns. Those named weft_general enter and leave the
 * library; the others are called with the VCI held.
 */
#ifndef WEFT_P2P_GENERAL_H
#define WEFT_P2P_GENERAL_H

#include "core/mpi/call.h"
#include "core/pt2pt/p2p.h"

/* The standard calls, in both forms; with threads they make the fast attempt first. */
int weft_general_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm);
int weft_general_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                       MPI_Comm comm, MPI_Request *request);
int weft_general_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Status *status);
int weft_general_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request *request);

/* The general path of the standard calls with arguments that were checked and a plain type. */
int weft_checked_send(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag);
int weft_checked_isend(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag,
                       MPI_Request *request);
int weft_checked_recv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                      MPI_Status *status);
int weft_checked_irecv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                       MPI_Request *request);

/* Sends in any mode. */
int weft_general_send_mode(const struct weft_call *call, enum weft_send_mode mode);
int weft_general_isend_mode(const struct weft_call *call, enum weft_send_mode mode,
                            MPI_Request *request);

/* Buffered sends (bsend.c) and persistent requests (persistent.c). */
int weft_general_bsend(const struct weft_call *call);
int weft_general_ibsend(const struct weft_call *call, MPI_Request *request);
int weft_general_send_init(const struct weft_call *call, enum weft_send_mode mode,
                           MPI_Request *request);
int weft_general_recv_init(const struct weft_call *call, MPI_Request *request);

/* The exchanges (sendrecv.c). replace: both calls have one buffer, so a copy of it is sent. */
int weft_general_sendrecv(struct weft_call out, const struct weft_call *in, bool replace,
                          MPI_Status *status);
int weft_general_isendrecv(struct weft_call out, const struct weft_call *in, bool replace,
                           MPI_Request *request);

/* Completes the receive of MPI_Recv. */
int weft_finish_recv(struct weft_request *receive, MPI_Status *status);

int weft_call_send(const struct weft_call *call, enum weft_send_mode mode);

#endif
