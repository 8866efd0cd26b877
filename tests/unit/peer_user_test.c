// SPDX-License-Identifier: BSD-3-Clause
/*
 * The user at the other end of a connection: both ways to find it, over IPv4 and IPv6.
 *
 * Invariant: nothing here depends on other connections of this host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tools/weftrun/peer_user.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENT, SERVER };

/* A connection on the loopback interface; false if the host lacks the family. */
static bool make_connection(int family, int ends[2])
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } at = {.any.sa_family = (sa_family_t)family};
    socklen_t len = family == AF_INET ? sizeof at.v4 : sizeof at.v6;
    if (family == AF_INET)
        at.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        at.v6.sin6_addr = in6addr_loopback;
    int listener = socket(family, SOCK_STREAM, 0);
    ends[CLIENT] = socket(family, SOCK_STREAM, 0);
    bool made = listener >= 0 && bind(listener, &at.any, len) == 0 && listen(listener, 1) == 0 &&
                getsockname(listener, &at.any, &len) == 0 &&
                connect(ends[CLIENT], &at.any, len) == 0;
    ends[SERVER] = made ? accept(listener, NULL, NULL) : -1;
    close(listener);
    return ends[SERVER] >= 0;
}

static void check_family(int family)
{
    int ends[2];
    if (!make_connection(family, ends)) {
        assert_int_not_equal(family, AF_INET);
        skip();
    }
    uid_t user = geteuid(), other = user + 1;
    assert_true(weft_peer_is_user(ends[SERVER], user));
    assert_false(weft_peer_is_user(ends[SERVER], other));
    assert_int_equal(weft_peer_by_table(ends[SERVER], user), 1);
    assert_int_equal(weft_peer_by_table(ends[SERVER], other), 0);
    /* A kernel without the monitor has no answer at all; one with it answers both. */
    int monitor = weft_peer_by_monitor(ends[SERVER], user);
    assert_int_not_equal(monitor, 0);
    assert_int_equal(weft_peer_by_monitor(ends[SERVER], other), monitor < 0 ? -1 : 0);
    close(ends[CLIENT]);
    assert_false(weft_peer_is_user(ends[SERVER], user));
    assert_false(weft_peer_is_user(ends[SERVER], 0)); /* the user of a socket without an owner */
    close(ends[SERVER]);
}

static void test_ipv4(void **state)
{
    (void)state;
    check_family(AF_INET);
}

static void test_ipv6(void **state)
{
    (void)state;
    check_family(AF_INET6);
}

static void test_no_connection(void **state)
{
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_false(weft_peer_is_user(fd, geteuid()));
    close(fd);
    assert_false(weft_peer_is_user(-1, geteuid()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ipv4), cmocka_unit_test(test_ipv6),
                                       cmocka_unit_test(test_no_connection)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
