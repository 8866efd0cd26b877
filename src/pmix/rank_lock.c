// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lock of a rank: at most one process of a host joins a job as a given rank at a time. A
 * program that a rank starts inherits the launcher's variables; if it joined too, the launcher and
 * the peers could not distinguish the two processes.
 *
 * Invariant: the lock is a socket with an abstract name, so the kernel releases it when the process
 * ends. A socket of another user is no lock. exec and fork do not pass it on.
 */
#include "boot.h"
#include "core/base/abstract_name.h"
#include "core/base/hash.h"
#include "pmix/pmix_internal.h"

#include <errno.h>
#include <string.h>

extern char **environ;

static int lock = -1;

/* The hashes of texts that differ in the last character differ by a small multiple of one number:
 * unspread, the sum of "job@1" and "1" may be that of "job@2" and "0". */
static uint64_t spread(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The launcher's variables of this rank, in any order. The server's address is one of them, because
 * two servers on a host can have jobs of the same name. Of PMI-1 only the socket is unique. */
static uint64_t hash_of_rank(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE=", "PMIX_RANK=", "PMIX_SERVER_URI"};
    uint64_t sum = 0;
    weft_pmi_is_available(&sum);
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(*e, names[i], strlen(names[i])) == 0)
                sum += spread(weft_hash_text(*e));
    return sum;
}

bool weft_rank_lock_take(int *holder)
{
    struct sockaddr_un at;
    socklen_t len = weft_abstract_name(&at, "rank", hash_of_rank(), 0);
    struct ucred peer;
    socklen_t size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true;
    if (bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, SOMAXCONN) == 0) {
        lock = fd;
        return true;
    }
    bool held = errno == EADDRINUSE && connect(fd, (struct sockaddr *)&at, len) == 0 &&
                getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
    close(fd);
    if (held)
        *holder = peer.pid;
    return !held;
}

void weft_rank_lock_release(void)
{
    if (lock >= 0)
        close(lock);
    lock = -1;
}
