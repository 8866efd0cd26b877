// SPDX-License-Identifier: BSD-3-Clause
/*
 * The format of the net lane's messages: the kinds of user messages, the payload of an RTS, control
 * messages. The tag word and the completion data of a user message: tag_word.h.
 *
 * Invariant: ranks that differ in any of this differ in WEFT_NET_WIRE_VERSION, and do not become
 * one job. A peer's message is checked before a field of it is used (control.c).
 */
#ifndef WEFT_OFI_WIRE_H
#define WEFT_OFI_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { WEFT_NET_HEADER_BYTES = 32, WEFT_NET_CONTROL_BYTES = 56 };

enum { WEFT_NET_WIRE_VERSION = 22 };

/* The form of a user message, two bits of its tag word. */
enum weft_message_form {
    WEFT_MESSAGE_EAGER,
    WEFT_MESSAGE_SYNC,
    WEFT_MESSAGE_RTS, /* its data are a struct weft_net_header */
    WEFT_MESSAGE_READY
};

/* The payload of an RTS. */
struct weft_net_header {
    uint8_t version;
    uint8_t staged; /* 0: it can be read; 1: its sender pushes it (rndv_send.c, rndv_pipeline.c) */
    uint8_t ready;  /* it was sent in ready mode */
    uint8_t pad;
    uint32_t number;  /* of the sender's request */
    uint64_t length;  /* bytes of the user's message */
    uint64_t address; /* for fi_read: virtual address, or offset in the registration */
    uint64_t key;
};

enum weft_net_control_kind {
    WEFT_NET_ACK,    /* the oldest unacknowledged synchronous send of (context, tag) has matched */
    WEFT_NET_FIN,    /* count sends have been read; their numbers begin at `number` */
    WEFT_NET_CTS,    /* push the message of the send `number`, length bytes, to the receive `other`;
                        count 1: its rank reads pieces of a pipeline */
    WEFT_NET_DATA,   /* a pushed piece for the receive `number`, at offset `other`; data follows */
    WEFT_NET_FILLED, /* length bytes, at offset `other` of the message for the receive `number`, can
                        be read with address and key */
    WEFT_NET_EMPTY,  /* those at offset `other` of the send `number` have been read */
    WEFT_NET_CANCEL, /* drop the message of (context, tag) of the send `number`, or with the
                        sequence number `other` (count: enum weft_net_named); address: the sender's
                        rank in the communicator. The reply is sent when the messages with sequences
                        below `length` have been delivered; `key` user messages and controls were
                        sent before it */
    WEFT_NET_CANCELLED,  /* the send `number` is cancelled */
    WEFT_NET_TOO_LATE,   /* the send `number` has matched */
    WEFT_NET_CREDITS,    /* eager messages of `length` credits have matched */
    WEFT_NET_FLOW_CHECK, /* flow check: many messages were sent, with sequences below `length`; when
                           they have been delivered, claim unexpected ones and reply */
    WEFT_NET_FLOW_CHECKED,   /* the reply to it */
    WEFT_NET_REQUEST_HEADER, /* the RTS of the send `number` has matched; repeat its header for the
                                receive `other` */
    WEFT_NET_HEADER,    /* the header, for the receive `number`: staged (count), number (other),
                           length, address, key */
    WEFT_NET_COMPARE,   /* `number` messages were sent before this one; it is not counted itself */
    WEFT_NET_COMPARED,  /* the reply: all of these have arrived (count 0), or not yet (count 1) */
    WEFT_NET_CONNECTED, /* the sender connects, or is connected, to the receiver; count 1: the
                           receiver connects to the sender too, if it has not */
    WEFT_NET_RAILS,     /* the receive `other` of the send `number` wants to read through rails: the
                           bytes of address are numbers of the sender's rails, or 0 */
    WEFT_NET_REVOKE,    /* the communicator with that context is revoked */
    WEFT_NET_RAIL       /* the reply for rail `count` of the receive `number`: it can be read with
                           address and key (length 1), or not (length 0) */
};

/* The message that a WEFT_NET_CANCEL names: an eager one, an RTS, an eager synchronous one. */
enum weft_net_named { WEFT_NET_NAMED_EAGER, WEFT_NET_NAMED_RTS, WEFT_NET_NAMED_SYNC };

enum { WEFT_FINS_AT_ONCE = 10 };

struct weft_net_control {
    uint8_t version, kind, count;
    uint8_t vci_number; /* of the peer: core/message/vci.h */
    int32_t from;       /* world rank of the sender: weft_net_mark on the wire */
    uint32_t context;
    int32_t tag;
    uint64_t number, other, length;
    uint64_t address, key;
};

_Static_assert(sizeof(struct weft_net_header) == WEFT_NET_HEADER_BYTES, "RTS header");
_Static_assert(sizeof(struct weft_net_control) == WEFT_NET_CONTROL_BYTES, "control message");
_Static_assert(offsetof(struct weft_net_control, number) + WEFT_FINS_AT_ONCE * sizeof(uint32_t) <=
                   sizeof(struct weft_net_control),
               "the numbers of a FIN");

#endif
