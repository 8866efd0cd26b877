// SPDX-License-Identifier: BSD-3-Clause
/* Lists of hosts, and the allocation of a batch system in which weftrun runs. */
#ifndef WEFTRUN_HOSTS_H
#define WEFTRUN_HOSTS_H

#include <stdbool.h>

#define HOST_NAME_SIZE 256

struct host {
    char name[HOST_NAME_SIZE];
    int slots;
    int limit;    /* the most ranks (max_slots), or 0 */
    bool counted; /* the list states its slots */
};

struct host_list {
    struct host *hosts; /* each once, in the order of the list */
    int n;
    int error; /* errno if there was no memory for a host, or 0 */
};

/* Reads "a,b:4". Returns 0, or -1 after printing what is wrong. */
int weft_hosts_read_words(struct host_list *list, const char *text);

/* Reads a file with a line for each slot, or with "HOST slots=N" or "HOST:N", and max_slots=M
 * behind them. Returns the same. */
int weft_hosts_read_file(struct host_list *list, const char *path);

/* The slots of all hosts. With per_node > 0 a host has as many, unless the list states fewer. */
int weft_hosts_slots(const struct host_list *list, int per_node);

/* The same of one host. */
int weft_hosts_slots_of(const struct host *host, int per_node);

bool weft_hosts_have_limits(const struct host_list *list);

/* Gives the hosts more slots in turn, up to their limits and per_node (0: none), until there is one
 * for each rank. Returns the slots of all hosts. */
int weft_hosts_raise_slots(struct host_list *list, int ranks, int per_node);

/* The most ranks on this host, or 0. */
int weft_hosts_limit_here(const struct host_list *list);

/* True if a name is one of this host. Names are equal up to the domain; an address is compared in
 * full. */
bool weft_hosts_is_here(const char *name);

/* A host of the list that is not this one, or NULL. */
const char *weft_hosts_elsewhere(const struct host_list *list);

/* True if both name the same hosts in the same order, with as many slots and the same limits. */
bool weft_hosts_are_same(const struct host_list *a, const struct host_list *b);

struct allocation {
    const char *system;         /* the batch system, NULL outside of an allocation */
    const char *command;        /* starts ranks on all nodes of the allocation */
    char nodes[HOST_NAME_SIZE]; /* names the nodes if not all are this host, else "" */
    int tasks;                  /* on one node, 0: not stated */
    int all_tasks;              /* of Slurm, 0: not stated */
    struct host_list list;      /* of systems that state names and slots */
};

/* True if a launcher has started this process as a rank. */
bool weft_hosts_is_rank(void);

/* Reads the allocation from the environment. A process that a launcher started is in none. */
void weft_hosts_allocation(struct allocation *allocation);

#endif
