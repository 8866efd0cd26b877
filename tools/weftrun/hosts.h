// SPDX-License-Identifier: BSD-3-Clause
/* Lists of hosts, and the allocation of a batch system in which weftrun runs. */
#ifndef WEFTRUN_HOSTS_H
#define WEFTRUN_HOSTS_H

#include <stdbool.h>

#define HOST_NAME_SIZE 256

struct host_list {
    char first[HOST_NAME_SIZE]; /* "" if the list is empty */
    char other[HOST_NAME_SIZE]; /* a host that is not the first, or "" */
    int slots;                  /* of the first */
};

/* Reads "a,b:4". */
void weft_hosts_read_words(struct host_list *list, const char *text);

/* Reads a file with a line for each slot, or with "HOST slots=N" or "HOST:N". Returns 0 or errno.
 */
int weft_hosts_read_file(struct host_list *list, const char *path);

/* A host of the list that is not this one, or NULL. */
const char *weft_hosts_elsewhere(const struct host_list *list);

struct allocation {
    const char *system;         /* the batch system, NULL outside of an allocation */
    const char *command;        /* starts ranks on all nodes of the allocation */
    char nodes[HOST_NAME_SIZE]; /* names the nodes if not all are this host, else "" */
    int tasks;                  /* on one node, 0: not stated */
};

/* Reads the allocation from the environment. A process that a launcher started is in none. */
void weft_hosts_allocation(struct allocation *allocation);

#endif
