// SPDX-License-Identifier: BSD-3-Clause
/*
 * Proofs of a handshake: see handshake.h.
 */
#include "tcp/handshake.h"

#include <string.h>

static const char magic[8] = "weft-job";

/* Each hash begins with its use, so that none can be taken for another. */
enum use { PROOF = 1, ANSWER, MEETING };

struct signed_bytes {
    uint64_t use;
    struct weft_key nonce;
    struct weft_tcp_hello hello;
};

static struct weft_key sign(enum use use, const struct weft_tcp_hello *hello, struct weft_key key,
                            struct weft_key nonce)
{
    struct signed_bytes bytes;
    memset(&bytes, 0, sizeof bytes);
    bytes.use = use;
    bytes.nonce = nonce;
    bytes.hello = *hello;
    memset(&bytes.hello.proof, 0, sizeof bytes.hello.proof);
    return weft_siphash(key, &bytes, sizeof bytes);
}

void weft_tcp_hello_sign(struct weft_tcp_hello *hello, struct weft_key key, struct weft_key nonce)
{
    memcpy(hello->magic, magic, sizeof magic);
    hello->version = WEFT_TCP_VERSION;
    hello->proof = sign(PROOF, hello, key, nonce);
}

bool weft_tcp_hello_is_ours(const struct weft_tcp_hello *hello)
{
    return !memcmp(hello->magic, magic, sizeof magic) && hello->version == WEFT_TCP_VERSION;
}

bool weft_tcp_hello_proves(const struct weft_tcp_hello *hello, struct weft_key key,
                           struct weft_key nonce)
{
    return weft_key_same(hello->proof, sign(PROOF, hello, key, nonce));
}

struct weft_key weft_tcp_answer(const struct weft_tcp_hello *hello, struct weft_key key,
                                struct weft_key nonce)
{
    return sign(ANSWER, hello, key, nonce);
}

struct weft_key weft_tcp_meeting_key(const struct weft_tcp_hello *hello, struct weft_key secret,
                                     struct weft_key nonce)
{
    return sign(MEETING, hello, secret, nonce);
}
