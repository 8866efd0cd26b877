// SPDX-License-Identifier: BSD-3-Clause
/*
 * Abstract socket names, as marks that at most one process of a host has at a time: the kernel
 * releases a name when its process ends. A name contains the user's number, so that the marks of
 * users are apart.
 */
#ifndef WEFT_ABSTRACT_NAME_H
#define WEFT_ABSTRACT_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Writes the address "weft-WHAT-USER-HASH-NUMBER". Returns its length. */
static inline socklen_t weft_abstract_name(struct sockaddr_un *at, const char *what, uint64_t hash,
                                           int number)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "weft-%s-%d-%016llx-%d", what,
                     (int)geteuid(), (unsigned long long)hash, number);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

#endif
