// SPDX-License-Identifier: BSD-3-Clause
/*
 * The general path of point-to-point calls (MPI 5.0 chapter 3): checks the arguments in their
 * order and calls the core.
 *
 * Functions named weft_general enter and leave the library. Those named weft_call are called with
 * the VCI of the communicator held, and return MPI_SUCCESS or an error class whose sentence was
 * recorded; their callers raise it.
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

/* The general path of the standard calls with arguments that were checked and a plain type. They
 * raise errors. */
int weft_checked_send(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag);
int weft_checked_isend(struct weft_comm *comm, const void *buffer, size_t bytes, int dest, int tag,
                       MPI_Request *request);
int weft_checked_recv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                      MPI_Status *status);
int weft_checked_irecv(struct weft_comm *comm, void *buffer, size_t bytes, int source, int tag,
                       MPI_Request *request);

/* Sends in any mode. */
int weft_call_send(const struct weft_call *call, enum weft_send_mode mode);
int weft_call_isend(const struct weft_call *call, enum weft_send_mode mode, MPI_Request *request);

/* Buffered sends (bsend.c), persistent (persistent.c) and partitioned requests (partitioned.c): all
 * VCIs are held. call->count: of one partition. */
int weft_call_bsend(const struct weft_call *call);
int weft_call_ibsend(const struct weft_call *call, MPI_Request *request);
int weft_call_send_init(const struct weft_call *call, enum weft_send_mode mode,
                        MPI_Request *request);
int weft_call_recv_init(const struct weft_call *call, MPI_Request *request);
int weft_call_partitioned_init(const struct weft_call *call, bool receive, int partitions,
                               MPI_Info info, MPI_Request *request);

/* The exchanges (sendrecv.c). replace: both calls have one buffer, so a copy of it is sent. */
int weft_call_sendrecv(struct weft_call out, const struct weft_call *in, bool replace,
                       MPI_Status *status);
int weft_call_isendrecv(struct weft_call out, const struct weft_call *in, bool replace,
                        MPI_Request *request);

/* Probes (probe.c). flag: whether there is a message; NULL: waits until there is one. message: into
 * it the message is taken; NULL: the message stays. */
int weft_call_probe(struct weft_comm *comm, int source, int tag, int *flag, MPI_Message *message,
                    MPI_Status *status);

/* The VCI of a message that a matched probe took; VCI 0 for an invalid handle. */
struct weft_vci *weft_message_vci(const MPI_Message *handle);

/* Completes the receive of MPI_Recv. */
int weft_finish_recv(struct weft_request *receive, MPI_Status *status);

#endif
