// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ways of a point-to-point call (MPI 5.0 chapter 3) that its fast path, p2p_fast.h, does not take.
 *
 * The long way checks the arguments again, in their order, explains what is wrong and calls the core.
 * The gated way is that of a process whose gate is not open, with threads above all: it tries a cell,
 * then the fast path with the lock held, then the long way.
 *
 * All have the arguments of their entry points, in the same places, so that the fast path has nothing
 * to save before it knows that it is not taken. They return what the entry point is to return.
 */
#ifndef WEFT_P2P_LONG_H
#define WEFT_P2P_LONG_H

#include "core/mpi/call.h"
#include "core/pt2pt/p2p.h"

#include <stdbool.h>

/* ---- The long way. Each looks at the gate itself. */

int weft_long_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm);
int weft_long_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request);
int weft_long_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                   MPI_Comm comm, MPI_Status *status);
int weft_long_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Request *request);

/* The modes that have no fast path: a blocking send, and one that starts a request. */
int weft_long_send_mode(const struct weft_call *call, enum weft_send_mode mode);
int weft_long_isend_mode(const struct weft_call *call, enum weft_send_mode mode,
                         MPI_Request *request);

/* ---- Parts of it, for the gated way, which has been through the gate. */

int weft_long_send_now(const struct weft_call *call, enum weft_send_mode mode);
int weft_long_begin_send(const struct weft_call *call, enum weft_send_mode mode,
                         MPI_Request *request);
int weft_long_receive_now(const struct weft_call *call, MPI_Status *status);
int weft_long_begin_receive(const struct weft_call *call, MPI_Request *request);

/* ---- The gated way. */

int weft_gated_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm);
int weft_gated_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);
int weft_gated_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm, MPI_Status *status);
int weft_gated_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request);

#endif
