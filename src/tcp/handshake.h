// SPDX-License-Identifier: BSD-3-Clause
/*
 * The beginning of a connection between two jobs, or of two monitors (monitor.c).
 *
 *   caller                                            listener
 *     |  connect                                        |
 *     |<------------------------------------ nonce A ---|
 *     |--- hello: purpose, names, nonce C, proof ------>|
 *     |<------------------------------------- answer ---|
 *
 * The key is the secret of a port, one of the pair of processes, or that of the listener's monitor.
 * proof is the hash of A and the hello under the key, answer the hash of C and A. A caller without
 * the key gets a random number and then nothing; a listener without it gets no message. C is also
 * the number of the connection.
 *
 * A listener that gets no hello for some seconds, or one of a pair without a key yet, closes the
 * connection; the caller begins again. A process that is reported dead gets the answer and the end
 * of the connection.
 */
#ifndef WEFT_TCP_HANDSHAKE_H
#define WEFT_TCP_HANDSHAKE_H

#include "core/base/siphash.h"

enum { WEFT_TCP_VERSION = 2, WEFT_TCP_ADDRESSES = 4 };

enum weft_tcp_purpose { WEFT_TCP_PORT = 1, WEFT_TCP_LINK, WEFT_TCP_MONITOR };

struct weft_tcp_hello {
    char magic[8];
    uint32_t version, purpose;
    struct weft_key to;   /* the number of the port, or the listener's job */
    struct weft_key from; /* the caller's job */
    int32_t to_rank, from_rank;
    struct weft_key nonce, proof;
};

/* The addresses at which a process listens: `lane` of its contact. Addresses are of IPv6, or IPv4
 * mapped to it. */
struct weft_tcp_record {
    uint64_t own; /* the address in the memory of the process at which its contact is */
    uint16_t port, count;
    unsigned char address[WEFT_TCP_ADDRESSES][16];
};

/* Fills magic, version and proof. */
void weft_tcp_hello_sign(struct weft_tcp_hello *hello, struct weft_key key, struct weft_key nonce);

/* True if a caller that has the key made the hello. */
bool weft_tcp_hello_proves(const struct weft_tcp_hello *hello, struct weft_key key,
                           struct weft_key nonce);

/* True if magic and version are those of this library. */
bool weft_tcp_hello_is_ours(const struct weft_tcp_hello *hello);

struct weft_key weft_tcp_answer(const struct weft_tcp_hello *hello, struct weft_key key,
                                struct weft_key nonce);

/* The key of two processes that have met at a port. */
struct weft_key weft_tcp_meeting_key(const struct weft_tcp_hello *hello, struct weft_key secret,
                                     struct weft_key nonce);

#endif
