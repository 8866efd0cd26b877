// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that are too long to be sent at once: the receiver reads them (rndv_read.c), through
 * several NICs if it can (rails.c), or the sender pushes them (rndv_send.c) or passes them through
 * a pipeline that the receiver reads (rndv_pipeline.c).
 *
 * Invariant: a peer names a request by its number. A control message is acted on only if that
 * request is active, with that peer, and in the phase that the message is for (control.c).
 */
#ifndef WEFT_OFI_RENDEZVOUS_H
#define WEFT_OFI_RENDEZVOUS_H

#include "ofi/ofi_internal.h"

/* The pipeline of a send: pieces that are read while others are filled (rndv_pipeline.c). Four of
 * them keep a copy, a read and both controls busy. */
enum {
    WEFT_NET_PIPELINE_PIECES = 4,
    WEFT_NET_PIPELINE_PIECE = 512 << 10,
    WEFT_NET_PIPELINE_BYTES = WEFT_NET_PIPELINE_PIECES * WEFT_NET_PIPELINE_PIECE
};

/* The length of reads into bounce buffers for a message of so many bytes: about an eighth, so that
 * reading and unpacking overlap, but at least 64 KiB, so that calls take little of the time. A
 * power of two. */
static inline size_t weft_net_piece_bytes(size_t bytes)
{
    size_t piece = 64 << 10;
    while (piece < bytes / 8 && piece < WEFT_NET_PIECE_MAX)
        piece *= 2;
    return piece;
}

/* ---- rndv_read.c */

/* Fills the header of a send, whose buffer is registered if it can be. If not, its data pass
 * through stages. */
WEFT_COLD void weft_net_expose(struct weft_request *request);

/* A receive matched an RTS whose header it does not have: requests the header of the send with that
 * number. The reply continues with weft_net_fetch. */
WEFT_COLD void weft_net_request_header(struct weft_request *request, uint32_t number);

WEFT_COLD void weft_net_header_requested(struct weft_request *send, uint64_t receive);
WEFT_COLD void weft_net_header_arrived(struct weft_request *request,
                                       const struct weft_net_control *answer);

/* No more bytes may be read from a peer now. */
enum { WEFT_NET_NO_SPACE = 1 };

/* Continues to read a message that is not stalled; completes it if nothing is left. */
int weft_net_read_on(struct weft_request *request);

/* The provider returned -FI_EAGAIN for a piece of a request: weft_net_move_more tries again, and
 * returns the number of pieces that have started. */
void weft_net_stall(struct weft_request *request);
WEFT_COLD int weft_net_move_more(struct weft_net_vci *net);

/* Completes a rendezvous receive, and sends FIN if the sender waits for it. */
void weft_net_fetched(struct weft_request *request);
bool weft_net_fetch_waits(const struct weft_request *request);
void weft_net_fetch_abandon(struct weft_request *request);
void weft_net_read_done(struct weft_net_slot *read, int error, const char *text);

/* Begins to read bytes of a message from a peer's memory to their offset. Returns 0, -FI_EAGAIN or
 * an error. */
int weft_net_begin_read(struct weft_request *request, size_t offset, size_t bytes, uint64_t address,
                        uint64_t key);

/* True if a read may start now. */
bool weft_net_has_space(const struct weft_request *request);

/* rndv_read.c: as weft_net_register, for a message; counted for its peer, if that is known. */
struct fid_mr *weft_net_register_for(const struct weft_request *request, void *data, size_t bytes,
                                     uint64_t access);

/* rndv_read.c: registers the buffer of a receive that reads, if the provider requires that. */
void weft_net_register_receive(struct weft_request *request);

/* ---- rndv_send.c */

/* rndv_send.c: the receiver's side, then the sender's. weft_net_push_more continues to push and
 * returns the number of pieces that were sent or entered the backlog. */
void weft_net_pushed_fetch(struct weft_request *request);
void weft_net_piece_arrived(struct weft_request *request, size_t offset, const void *data,
                            size_t bytes);
void weft_net_push_pieces(struct weft_request *request, uint64_t receive, size_t length,
                          bool may_pipeline);
int weft_net_push_more(struct weft_request *request);
int weft_net_piece_send(struct weft_peer *peer, struct weft_backlog_entry *out);
WEFT_COLD void weft_net_piece_failed(struct weft_backlog_entry *out, const char *text);
void weft_net_piece_done(struct weft_net_slot *slot, int error, const char *text);

/* ---- rndv_pipeline.c */

/* rndv_pipeline.c, the sender's side. Copies the next bytes to the pieces of the pipeline that are
 * empty, and announces those whose copies have ended; takes a pipeline before, if the send may have
 * one. Returns the number of events. */
WEFT_COLD int weft_net_pipeline_fill(struct weft_request *request);

/* True if the send has no pipeline, or all of it has been read. */
bool weft_net_pipeline_is_empty(const struct weft_request *request);

/* EMPTY arrived. False if that piece is not filled. */
bool weft_net_piece_emptied(struct weft_request *send, uint64_t offset);

/* The receiver's side. True if this rank can read pieces. */
bool weft_net_reads_pieces(void);

/* FILLED arrived. False if it does not fit the receive. */
bool weft_net_piece_filled(struct weft_request *request, const struct weft_net_control *filled);

/* Reads pieces that wait for that; returns how many. */
WEFT_COLD int weft_net_pipeline_read_on(struct weft_request *request);

/* The read of a piece has ended, and still counts as in flight. */
WEFT_COLD void weft_net_piece_read(struct weft_request *request, size_t offset, int error,
                                   const char *text);

/* So many bytes of a receive in AWAITING_PIECES have arrived: completes it after the last. */
void weft_net_pieces_arrived(struct weft_request *request, size_t bytes);

/* Frees the pipeline of a request, if it has one. */
void weft_net_pipeline_close(struct weft_request *request);

/* ---- rails.c */

/* rails.c. Opens endpoints on the further NICs of this rank; without them it has no rails. */
void weft_net_rails_open(const struct weft_job *job);
void weft_net_rails_close(struct weft_net_vci *net);
char *weft_net_rails_names(char *buf, size_t len);

/* Writes the network (8 bytes) and address of each rail. Returns their number. */
unsigned weft_net_rails_publish(char *at, size_t address_bytes);

/* First contact with a peer that has published so many rails. */
void weft_net_rails_connect(struct weft_peer *peer, const char *record, unsigned count,
                            size_t address_bytes);

/* The sender's side: RAILS arrived. False if it does not fit the send. */
WEFT_COLD bool weft_net_rails_asked(struct weft_request *send,
                                    const struct weft_net_control *control);

/* The receiver's side. Sends RAILS for a receive in READING, if its peer has rails and the message
 * is long enough. */
WEFT_COLD void weft_net_rails_ask(struct weft_request *request);

/* RAIL arrived. False if it was not asked for. */
WEFT_COLD bool weft_net_rail_granted(struct weft_request *request,
                                     const struct weft_net_control *control);

/* True if a RAIL is still to arrive. */
bool weft_net_rails_awaited(const struct weft_request *request);

/* Starts as many reads of a receive with rails as may be in flight: returns what read_pieces of
 * rndv_read.c returns. The second starts those on the rails only, and returns their number. */
int weft_net_rails_read(struct weft_request *request, int *issued);
int weft_net_rails_issue(struct weft_request *request);

/* A read of a receive with rails has ended: on that rail, or on the first NIC (0). */
void weft_net_rails_read_ended(struct weft_request *request, unsigned rail);

/* Takes the completions of the rails. Returns the number of events. */
WEFT_COLD int weft_net_rails_progress(struct weft_net_vci *net);

void weft_net_rails_release(struct weft_request *request);

/* Frees the registrations and the bounce buffer of a request. */
static inline void weft_net_release(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    if (weft_unlikely(state->mr != NULL)) {
        fi_close(&state->mr->fid);
        if (state->rails)
            weft_net_rails_release(request);
    }
    if (state->packed)
        weft_net_bounce_put(weft_net_of(request), state->packed);
    state->mr = NULL;
    state->packed = NULL;
}

#endif
