// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the two halves of the generator share: the play (play of MPI's rules, rules.c) and what is
 * added to it (schedule.c).
 *
 * Invariant: what waits in the play is nonblocking, and `certain` of an operation is the time at
 * which its last counterpart was added.
 */
#ifndef WEFT_FUZZ_GENERATOR_H
#define WEFT_FUZZ_GENERATOR_H

#include "schedule.h"

enum { OPEN = 40, TAGS = 5, UNIQUE = 1000, WILD_ROOM = 70000 };
enum { DIRECTED, ANY_SOURCE, ANY_BOTH }; /* what a destination's receives are */

struct stream {
    int messages[OPEN], receives[OPEN]; /* those that wait, oldest first: indices */
    int n_messages, n_receives;
    bool tags_only; /* no receive takes any tag */
};

/* Where a destination takes from any source: who waits is counted, not known. */
struct crowd {
    int sent, posted, waiting[OPEN], n_waiting; /* receives that are not certain yet */
};

struct object {
    struct fuzz_op first; /* what all its starts have in common */
    int last;             /* its latest operation */
};

struct generator {
    struct fuzz_schedule *s;
    uint64_t random;
    int time, unique;
    long buffer[FUZZ_RANKS], overhead;
    int wild[FUZZ_COMMS][FUZZ_RANKS];
    int sole[FUZZ_COMMS][FUZZ_RANKS]; /* the only source that sends to a destination, or FUZZ_ANY */
    struct stream streams[FUZZ_COMMS][FUZZ_RANKS][FUZZ_RANKS]; /* [comm][source][dest] */
    struct crowd crowds[FUZZ_COMMS][FUZZ_RANKS][TAGS];
    struct object objects[FUZZ_RANKS][FUZZ_OBJECTS];
    int n_objects[FUZZ_RANKS];
    int parts[FUZZ_OPS]; /* of an operation: what is not matched yet */
};

/* Random: from 0 to n - 1; true once in n times. */
int gen_below(struct generator *g, int n);
bool gen_one_in(struct generator *g, int n);
/* Whether source may send to dest, and some rank that may. */
bool gen_may_send(const struct generator *g, int comm, int source, int dest);
int gen_some_source(struct generator *g, int comm, int dest);
/* A size around the edges that matter, at most `most`; a tag; and one that nothing else has, nor
 * the next. */
int gen_some_bytes(struct generator *g, int most);
/* The ordinary tag of that number. */
int gen_tag_of(const struct generator *g, int index);
int gen_some_tag(struct generator *g);
int gen_unique_tag(struct generator *g);
/* Room for a message of count elements: rarely too little. */
int gen_room_for_count(struct generator *g, int count);
/* What waits between two ranks, or at a destination that takes from any source. */
struct stream *gen_stream_of(struct generator *g, int comm, int source, int dest);
struct crowd *gen_crowd_of(struct generator *g, int comm, int dest, int tag);
/* The place of the receive that a message with this tag goes to, or -1; and the other way round. */
int gen_find_receive(const struct generator *g, const struct stream *stream, int tag);
int gen_find_message(const struct generator *g, const struct stream *stream, int tag);
/* One part of an operation has its counterpart. */
void gen_matched(struct generator *g, int op);
/* Adds an operation, after all others or at the time of the last. Returns its index. */
int gen_add_op(struct generator *g, int rank, int kind, int how, bool same_time);
/* The message of an operation, not in the play. */
int gen_add_message(struct generator *g, int op, int dest, int tag, int type, int count);
/* Puts an operation's send into the play. type < 0: choose type and count. */
void gen_play_send(struct generator *g, int op, int dest, int tag, int type, int count);
/* Puts an operation's receive into the play. type < 0: choose type and room. */
void gen_play_receive(struct generator *g, int op, int source, int tag, int type, int room);
/* The same for a receive from any source. */
void gen_play_wild_receive(struct generator *g, int op, int tag);

#endif
