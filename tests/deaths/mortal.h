// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls of MPI while ranks are killed: what the acts share. mortal.c has the frame.
 *
 * An act is one kind of call, played for some rounds. All ranks make the same calls in the same
 * order, whatever these return: so no call may wait for ever, and each returns success or an error
 * of the class of a death.
 */
#ifndef WEFT_TESTS_MORTAL_H
#define WEFT_TESTS_MORTAL_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

enum { MOST_RANKS = 16, LONGEST = 600000 };

struct act {
    const char *name;
    void (*begin)(void); /* before anybody dies; NULL: nothing to be done */
    void (*round)(void);
    void (*end)(void); /* after all rounds; NULL: nothing to be done */
    int least;         /* ranks */
};

extern const struct act p2p_acts[], coll_acts[], comm_acts[], memory_acts[];

extern int rank, size, number; /* number: of the round */
extern bool is_dying[];        /* ranks that are killed in this run */
extern bool is_child;          /* a process that the job has spawned; none of them is killed */
extern char *program, *child_arguments[];
extern char *out_data, *in_data;

/* A number below n: the same at all ranks, or of this rank alone. */
int shared_random(int n);
int own_random(int n);

/* Bytes of a message: of each protocol. */
int some_bytes(void);

/* Notes the call that follows, for the sentence of a hang. */
void call(const char *name);

/* The end of the call: counts an error, and prints one of another class. True: success. */
bool check(int code);

/* A call whose name is the text before the first parenthesis. */
#define TRY(function, ...) (call(#function), check(function(__VA_ARGS__)))

/* Data that were received with success are wrong. */
void wrong_data(int at);

/* The data of a rank in this round, and how many of its bytes were received as something else. */
void fill(char *data, int bytes, int owner);
void expect(const char *data, int bytes, int owner);

#endif
