// SPDX-License-Identifier: BSD-3-Clause
/*
 * The placement that a command line requests, in the words of weftrun, Open MPI and MPICH: bind.c
 * carries it out.
 *
 * Ranks are mapped to objects of the machine in turn (--map-by), each gets processors within its
 * object (--bind), and then the ranks are numbered (--rank-by).
 */
#ifndef WEFTRUN_PLACEMENT_H
#define WEFTRUN_PLACEMENT_H

#include <stdbool.h>

/* From OBJECT_L1CACHE on ranks may share an object. */
enum object {
    OBJECT_NONE, /* all processors */
    OBJECT_HWTHREAD,
    OBJECT_CORE,
    OBJECT_L1CACHE,
    OBJECT_L2CACHE,
    OBJECT_L3CACHE,
    OBJECT_NUMA,
    OBJECT_PACKAGE
};

struct placement {
    enum object bind;
    enum object map;       /* OBJECT_NONE: processors in order */
    enum object rank_by;   /* ranks are numbered over these in turn; OBJECT_NONE: as mapped */
    bool binds;            /* bind is in the line, and no consequence of map */
    bool fills;            /* ranks of one mapped object are numbered before those of the next */
    bool overload;         /* ranks may share cores that they are bound to */
    bool threads;          /* PE counts hardware threads */
    bool in_turn;          /* each rank gets one entry of cpus */
    int elements;          /* PE=N: cores of each rank; 0: one */
    int objects;           /* "core:2": objects that a rank is bound to; 0: one */
    int per_object;        /* "ppr:N": ranks on each mapped object; 0: no limit */
    const char *cpus;      /* processors of the job, or with in_turn those of each rank; or NULL */
    const char *rank_file; /* or NULL */
};

/* Each reads the value of an option and returns 0, or -1 after printing why. *per_node becomes the
 * N of "ppr:N:node". */
int weft_placement_read_bind(struct placement *p, const char *text);
int weft_placement_read_map(struct placement *p, int *per_node, const char *text);
int weft_placement_read_rank_by(struct placement *p, const char *text);
int weft_placement_read_elements(struct placement *p, const char *text);

/* Fills in what follows from the other options, when all are read. */
int weft_placement_finish(struct placement *p);

/* The name of a kind of object in messages. */
const char *weft_placement_name(enum object object);

#endif
