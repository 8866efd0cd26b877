// SPDX-License-Identifier: BSD-3-Clause
/*
 * SipHash-2-4-128 beside the vectors of its authors' reference, and the proofs of a handshake
 * between jobs (src/tcp/handshake.c): a hello of which any byte was changed proves nothing.
 */
#include "tcp/handshake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void hash_vectors(void **state)
{
    static const uint8_t expected[][16] = {{0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d,
                                            0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93},
                                           {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34,
                                            0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45},
                                           {0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc,
                                            0xa3, 0x8b, 0xde, 0xf6, 0x0a, 0xff, 0xe4}};
    const struct weft_key key = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    const uint8_t data[] = {0, 1, 2};
    (void)state;
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
        struct weft_key hash = weft_siphash(key, data, n);
        for (int i = 0; i < 16; i++)
            assert_int_equal(hash.word[i / 8] >> 8 * (i % 8) & 0xff, expected[n][i]);
    }
}

static void proofs(void **state)
{
    struct weft_key key, nonce, other;
    struct weft_tcp_hello hello, changed;
    (void)state;
    assert_true(weft_key_random(&key) && weft_key_random(&nonce) && weft_key_random(&other));
    assert_false(weft_key_same(key, other));
    memset(&hello, 0, sizeof hello);
    hello.purpose = WEFT_TCP_LINK;
    hello.from_rank = 3;
    weft_tcp_hello_sign(&hello, key, nonce);
    assert_true(weft_tcp_hello_is_ours(&hello) && weft_tcp_hello_proves(&hello, key, nonce));
    assert_false(weft_tcp_hello_proves(&hello, other, nonce));
    assert_false(weft_tcp_hello_proves(&hello, key, other));
    for (size_t i = 0; i < sizeof hello; i++) {
        changed = hello;
        ((unsigned char *)&changed)[i] ^= 0x10;
        assert_false(weft_tcp_hello_proves(&changed, key, nonce));
    }
    /* An answer is no proof, so that a listener cannot be used to make one. */
    assert_false(weft_key_same(weft_tcp_answer(&hello, key, nonce), hello.proof));
    assert_false(weft_key_same(weft_tcp_answer(&hello, key, nonce),
                               weft_tcp_meeting_key(&hello, key, nonce)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hash_vectors), cmocka_unit_test(proofs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
