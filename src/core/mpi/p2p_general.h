// SPDX-License-Identifier: BSD-3-Clause
/*
 * The general path of point-to-point calls (MPI 5.0 chapter 3): checks the arguments in their
 * order, raises the error of the first wrong one, and calls the core.
 *
 * All functions return what the entry point returns. Those named weft_general enter and leave the
 * library; the others are called between weft_enter_on and weft_leave_on.
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

/* Sends in any mode. */
int weft_general_send_mode(const struct weft_call *call, enum weft_send_mode mode);
int weft_general_isend_mode(const struct weft_call *call, enum weft_send_mode mode,
                            MPI_Request *request);

/* Completes the receive of MPI_Recv. */
int weft_finish_recv(struct weft_request *receive, MPI_Status *status);

int weft_call_send(const struct weft_call *call, enum weft_send_mode mode);
int weft_call_isend(const struct weft_call *call, enum weft_send_mode mode, MPI_Request *request);
int weft_call_recv(const struct weft_call *call, MPI_Status *status);
int weft_call_irecv(const struct weft_call *call, MPI_Request *request);

#endif
