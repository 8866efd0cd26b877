// SPDX-License-Identifier: BSD-3-Clause
/*
 * Matching in software, and delivery: an arrived message and its receive.
 *
 * The matcher (match.h) handles neither memory nor lanes. This module connects it with requests
 * and lanes: a lane describes an arrived message once (struct weft_arrival), and one function,
 * weft_deliver, moves its data into the matched receive, for all lanes.
 *
 * Invariant: what a kept message refers to stays valid until its delivery: data and RTS headers are
 * copied when it is kept, and a send of this process stays pending.
 */
#ifndef WEFT_SW_MATCH_H
#define WEFT_SW_MATCH_H

#include "core/message/request.h"

#include <stddef.h>

/* The location of the data of an arrived message. */
enum weft_data_location {
    WEFT_DATA_HERE,      /* data: the packed data */
    WEFT_DATA_AT_SENDER, /* data: the header of an RTS; the lane fetches the data */
    WEFT_DATA_LOCAL      /* data: the send request, of this process, still pending */
};

/* An arrived message. */
struct weft_arrival {
    uint32_t context;
    int32_t source, tag;    /* source: the sender's rank in the communicator */
    uint8_t lane;           /* the number of the lane on which it came */
    uint8_t mode;           /* enum weft_send_mode */
    uint8_t location;       /* enum weft_data_location */
    struct weft_peer *peer; /* the sender, or NULL if the lane does not have it at hand */
    const void *data;       /* depends on location */
    size_t bytes;           /* to keep of data: those of the packed data or of the header */
    size_t length;          /* bytes of the user's message: what a probe reports */
    uint64_t id;     /* names the message among those of its sender on its lane, for a cancel */
    uint64_t cookie; /* for the lane: names the send of a synchronous message */
};

/* A message without a receive, in the matcher or taken by a matched probe. */
struct weft_message {
    struct weft_object object;
    struct weft_match_message match;
    struct weft_arrival arrival;
    struct weft_channel *channel; /* once a matched probe took it */
    _Alignas(16) unsigned char data[];
};

/* The message that contains an entry of a matcher. */
static inline struct weft_message *weft_message_of(struct weft_match_message *match)
{
    return (struct weft_message *)((char *)match - offsetof(struct weft_message, match));
}

/* Starts a receive in software: request's channel, source, tag, buffer, type and capacity are set.
 * Takes the oldest message that matches, or posts it. */
void weft_sw_receive(struct weft_request *request);

/* Takes a message out of the matcher. */
void weft_sw_take(struct weft_matcher *matcher, struct weft_message *message);

/* A receive of a message that a matched probe took: request as above; the message is freed. */
void weft_sw_receive_taken(struct weft_request *request, struct weft_message *message);

/* Posts a receive from one source, when no message waits in the matcher: weft_sw_receive without
 * its checks. */
static inline __attribute__((always_inline)) void weft_sw_post(struct weft_matcher *matcher,
                                                               struct weft_request *receive)
{
    receive->match.label = weft_match_label(receive->channel->context);
    if (weft_unlikely(!weft_match_post_express(matcher, &receive->match)))
        weft_match_post(matcher, &receive->match);
}

/* Withdraws a posted receive. False when it was matched before. */
bool weft_sw_withdraw(struct weft_request *request);

/* A message arrived: delivers it to the receive that matches, or keeps it. Returns MPI_SUCCESS, or,
 * for a message of this process that could not be kept, MPI_ERR_NO_MEM with the sentence recorded.
 * If a message of another process cannot be kept, the job ends. */
int weft_sw_arrive(struct weft_matcher *matcher, const struct weft_arrival *message);

/* Delivers a message to the receive that it has matched: checks the length, moves the data or
 * starts to fetch them, acknowledges a synchronous send, completes the receive. */
void weft_deliver(struct weft_request *receive, const struct weft_arrival *message);

/* The request of a posted receive that the express queue returned: such a receive is from one
 * source that is not on a lane that matches, so it is not counted as held. */
static inline struct weft_request *weft_sw_request(struct weft_match_receive *receive)
{
    return (struct weft_request *)((char *)receive - offsetof(struct weft_request, match));
}

/* Discards the one message without a receive that a cancelled send names: by context, source, tag,
 * lane and id, and by the mode if that is synchronous. Its other fields are stored in *name, but
 * its data are freed. False if there is none, or several match. */
bool weft_sw_revoke(struct weft_matcher *matcher, struct weft_arrival *name);

/* The object of a peer is given back: the messages of its process that are kept, which no receive
 * can match any more, have no peer from now on. */
void weft_sw_forget_peer(const struct weft_peer *peer);

/* Drops the messages of a context id whose communicator is being freed. A send that waits for its
 * receive keeps its message, which no receive can match any more, so that it can be cancelled. */
void weft_sw_drop_context(struct weft_matcher *matcher, uint32_t context);

/* Drops the complete messages of a context id with tags for which is_over(arg, tag) is true. */
void weft_sw_drop_tags(struct weft_matcher *matcher, uint32_t context,
                       bool (*is_over)(const void *arg, int tag), const void *arg);

/* Counts a receive or a claim in (+1) or out (-1) of a channel's held ones. */
void weft_sw_hold(struct weft_channel *channel, int by);

#endif
