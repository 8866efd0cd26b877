// SPDX-License-Identifier: BSD-3-Clause
/*
 * The software side of receiving: receives and messages that the core matches itself.
 *
 * It joins the matcher (which knows neither memory nor networks) with requests on one side and with
 * lanes on the other. A message arrives here in one of five forms; what it carries is either its
 * data or what its lane needs to fetch them.
 *
 * Invariant: what a stored message points to stays valid until the message is delivered: data and
 * RTS headers are copied at arrival; a local send is pending until then.
 */
#ifndef WEFT_SW_MATCH_H
#define WEFT_SW_MATCH_H

#include "core/pt2pt/request.h"

#include <stddef.h>

enum weft_message_form {
    WEFT_MESSAGE_EAGER, /* data */
    WEFT_MESSAGE_SYNC,  /* data; the sender waits for an acknowledgement of the match */
    WEFT_MESSAGE_RTS,   /* data is its lane's header: the lane fetches the rest */
    WEFT_MESSAGE_READY, /* data, sent in ready mode: its receive should be there */
    /* up to here two bits on the wire */
    WEFT_MESSAGE_LOCAL /* data is a send request of this process, still pending */
};

struct weft_message {
    struct weft_object object;
    struct weft_match_message match;
    uint8_t form;                 /* enum weft_message_form */
    uint8_t lane;                 /* enum weft_lane: SELF, SHM, else what came over the net */
    size_t bytes;                 /* of data below */
    uint32_t sequence;            /* among all of its sender on that lane */
    uint64_t cookie;              /* shared memory, synchronous: the sender's */
    size_t length;                /* of the user's message: what a probe reports */
    struct weft_channel *channel; /* once a matched probe took it */
    _Alignas(16) unsigned char data[];
};

/* The message that an entry of a matcher is part of. */
static inline struct weft_message *weft_message_of(struct weft_match_message *match)
{
    return (struct weft_message *)((char *)match - offsetof(struct weft_message, match));
}

/* Starts a receive in software: request's channel, source, tag, buffer, type and capacity are set.
 * Takes the oldest message that matches, or posts it. */
void weft_sw_receive(struct weft_request *request);

/* Takes a message out of the matcher. */
void weft_sw_take(struct weft_matcher *matcher, struct weft_message *message);

/* A receive of a message that a matched probe took: request as above; the message is gone then. */
void weft_sw_receive_taken(struct weft_request *request, struct weft_message *message);

/* Posts a receive from one source, when no message waits in the matcher: weft_sw_receive without its
 * checks. */
static inline __attribute__((always_inline)) void weft_sw_post(struct weft_matcher *matcher,
                                                               struct weft_request *receive)
{
    receive->match.label = weft_match_label(receive->channel->context);
    if (weft_unlikely(!weft_match_post_express(matcher, &receive->match)))
        weft_match_post(matcher, &receive->match);
}

/* Withdraws a posted receive. False when it was matched before. */
bool weft_sw_withdraw(struct weft_request *request);

/* A message arrived for a context, on a lane whose messages the matcher matches. data and bytes as its
 * form says; length is the user's; sequence is what names it among its sender's. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM (the message could not be stored: its sentence is said). */
int weft_sw_arrive(struct weft_matcher *matcher, uint32_t context, int source, int tag,
                   enum weft_message_form form, const void *data, size_t bytes, size_t length,
                   uint32_t sequence);

/* The two halves of weft_sw_arrive, for a lane that brings data to their place by itself. The
 * first unlinks and returns the receive that gets a message, or NULL; its source and tag are still
 * to be set. The second keeps a message that none wanted, its data copied; NULL when memory is
 * short. */
struct weft_request *weft_sw_match(struct weft_matcher *matcher, uint32_t context, int source,
                                   int tag);

/* A posted receive's request. The shared-memory lane may ask the express queue itself: what it gets
 * there is no receive that the net could match, and so not counted as held. */
static inline struct weft_request *weft_sw_request(struct weft_match_receive *receive)
{
    return (struct weft_request *)((char *)receive - offsetof(struct weft_request, match));
}

struct weft_message *weft_sw_keep(struct weft_matcher *matcher, uint32_t context, int source,
                                  int tag, enum weft_message_form form, const void *data,
                                  size_t bytes, size_t length, uint32_t sequence);

/* A message that was sent in ready mode has found no receive: a mistake in the program (MPI 5.0, 3.4),
 * of which a process tells once. length is the user's message's. */
WEFT_COLD void weft_sw_unready(uint32_t context, int source, int tag, size_t length);

/* Removes the one unmatched message that a cancelled send names: by its RTS cookie, or, when cookie
 * is 0, by its sequence number. False when there is none, or more than one fits. */
bool weft_sw_revoke(struct weft_channel *channel, int source, int tag, uint64_t cookie,
                    uint32_t sequence);

/* The same for a message from shared memory, which its sequence names. */
bool weft_sw_revoke_shared(struct weft_matcher *matcher, uint32_t context, int source, int tag,
                           uint32_t sequence);

/* The same for a send of this process to itself, pending or complete. */
bool weft_sw_revoke_local(const struct weft_request *send);

/* Counts a receive or a claim in (+1) or out (-1) of a channel's held ones. */
void weft_sw_hold(struct weft_channel *channel, int by);

#endif
