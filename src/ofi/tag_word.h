// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tag word and the completion data of a user message. The tag word, from the top of the
 * provider's usable bits:
 *
 *     | space 1 | form 2 | sender | context (20..28 bits) | user's tag (15..31 bits) |
 *
 * space separates user messages (0) from control messages (1) and is always matched. form is the
 * kind of a user message (enum weft_message_form); receives ignore it and read it from the
 * completion. With software matching, sender is the sender number, VCI number * job size + rank in
 * MPI_COMM_WORLD, because each VCI number has sequence numbers of its own (core/message/vci.h);
 * with matching by the provider, sender has no bits. The CQ data carries the sender's rank in the
 * communicator and the message's sequence number (8 or 32 bits). Where the provider matches and the
 * sequence number has 32 bits, an RTS carries the number of the send's request instead.
 */
#ifndef WEFT_OFI_TAG_WORD_H
#define WEFT_OFI_TAG_WORD_H

#include "ofi/state.h"

/* A rank in a message, combined with the job's key: a sender that does not have the key claims a
 * rank that does not exist (SECURITY.md). */
static inline uint32_t weft_net_mark(int rank)
{
    return (uint32_t)rank ^ weft_net.job_key;
}

/* The rank in its communicator that a user message claims as its sender. */
static inline int weft_net_source(uint64_t cq_data)
{
    return (int)((uint32_t)(cq_data >> weft_net.rank_shift) ^ weft_net.job_key);
}

/* The sequence number's bits of the completion data. */
static inline uint64_t weft_net_number_bits(uint32_t number)
{
    return (uint64_t)(number & weft_net.sequence_mask) << weft_net.sequence_shift;
}

/* True if the sender of a user message has the job's key. */
static inline bool weft_net_is_of_job(uint64_t cq_data)
{
    return (uint32_t)weft_net_source(cq_data) < (uint32_t)weft.processes;
}

/* The id of a message that was announced by an RTS (struct weft_arrival); of any other message it
 * is the sequence number. */
static inline uint64_t weft_net_rts_id(uint32_t number)
{
    return UINT64_C(1) << 32 | number;
}

/* The context bits and tag of a user message's tag word. */
static inline int weft_net_form(uint64_t word)
{
    return (int)(word >> weft_net.form_shift) & 3;
}

static inline uint32_t weft_net_context(uint64_t word)
{
    return (uint32_t)((word & ((UINT64_C(1) << weft_net.sender_shift) - 1)) >>
                      weft_net.context_shift);
}

/* The sender number of a user message, with software matching. */
static inline uint32_t weft_net_sender(uint64_t word)
{
    return (uint32_t)((word & ((UINT64_C(1) << weft_net.form_shift) - 1)) >> weft_net.sender_shift);
}

/* With software matching: the number of a sender in the tag word, and the senders of one VCI of
 * this process. */
static inline uint32_t weft_net_sender_number(unsigned vci_number, int world)
{
    return vci_number * (uint32_t)weft.job.size + (uint32_t)world;
}

static inline size_t weft_net_senders(void)
{
    return (size_t)weft.job.size * (weft_net.nvcis == 1 ? weft_net.vci_numbers : 1);
}

/* True if messages of a VCI number arrive on a VCI. */
static inline bool weft_net_takes(const struct weft_net_vci *net, unsigned vci_number)
{
    return vci_number < weft_net.vci_numbers && (weft_net.nvcis == 1 || vci_number == net->number);
}

#endif
