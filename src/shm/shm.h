// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interface of the shared-memory lane: messages between ranks of one node.
 *
 * One segment of shared memory serves all ranks of the job on a node. The lowest of them makes it,
 * without a name in any file system (a memfd), so nothing is left behind however the job ends; the
 * others open it through /proc, whose path they get by PMIx. In it:
 *
 *     head      what it is, how it is laid out
 *     members   for each rank: its process, its doorbell (set while it sleeps), its contacts (a bit
 *               for each rank that has written to it, for each VCI number)
 *     rings     for each VCI number (core/message/vci.h) and ordered pair of ranks a ring (ring.h),
 *     of
 *               which no byte is touched, and so takes memory, before the first message
 *
 * A message takes one of three protocols. A short one is in a line of the ring. One up to the eager
 * limit is in the ring's data area: one copy in, one out, straight into the receive's buffer if it
 * was posted. A longer one is announced by an RTS; after the match the receiver copies it out of
 * the sender's memory (process_vm_readv: one copy), with the help of a sender that waits (share.h),
 * and sends FIN; or, if the kernel does not permit that or either buffer is not contiguous, the
 * receiver sends CTS, and the sender pushes pieces through the data area.
 *
 * Invariants:
 *  - Messages and controls to one peer are written to its ring in the order of the calls. If one
 *    finds no space, it and all after it wait in the peer's backlog; only pieces of pushed
 * messages, which name their receive, may overtake.
 *  - Every receive that a message of this lane could match waits in the software matcher.
 *  - A reader never waits for space: it empties its rings whatever it cannot write itself.
 *  - A sleeping rank has polled all its rings after it set its doorbell, and a writer reads the
 *    doorbell after writing (doorbell.c).
 */
#ifndef WEFT_SHM_H
#define WEFT_SHM_H

#include "core/message/lane.h"

extern WEFT_HIDDEN const struct weft_lane weft_shm_lane;

#endif
