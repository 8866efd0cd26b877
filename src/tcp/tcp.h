// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lane tcp: messages between processes of different jobs (core/message/foreign.h), through TCP
 * connections of its own. It is opened when a process first meets another job.
 *
 * A process listens on one socket. Each direction of a pair of processes has one connection, which
 * its sender makes at first contact; the other direction of that connection carries one byte, when
 * the receiver leaves MPI. A connection begins with a handshake (handshake.h): each side proves
 * that it has the key of the pair, or the secret of a port, before anything else is read. Then
 * frames follow (struct weft_tcp_frame).
 *
 *   eager, up to 16 KiB      longer, or without credits       cancel
 *     EAGER  -->               ANNOUNCE -->                     CANCEL -->
 *     <-- ACK, if synchronous  <-- CTS, after the match         <-- CANCELLED or TOO_LATE
 *     <-- CREDIT, now and then DATA -->, in pieces
 *
 * A receiver on the same host reads contiguous data out of the sender's memory and replies with FIN
 * instead of CTS, unless the kernel refuses it, WEFT_SHM is 0 or WEFT_SHM_COPY is staged.
 *
 * All state belongs to VCI 0: the lane has one VCI number.
 *
 * Invariants:
 *  - Frames to a peer leave in the order of the calls.
 *  - A second connection of a peer is read when the first has ended, so that messages which were
 *    sent before a disconnect arrive before those after it.
 *  - A frame is checked before it is used. A frame that no process sends ends the connection.
 *  - An eager message is charged at its sender until the receiver has returned its credits.
 */
#ifndef WEFT_TCP_H
#define WEFT_TCP_H

#include "core/message/lane.h"

extern const struct weft_lane weft_tcp_lane;

#endif
