// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shared by agree.c, which has the messages and the state of an agreement, and agree_calls.c, which
 * has its calls.
 */
#ifndef WEFT_COMM_AGREE_INTERNAL_H
#define WEFT_COMM_AGREE_INTERNAL_H

#include "core/comm/agree.h"
#include "core/comm/agreement.h"
#include "core/comm/context_alloc.h"
#include "core/pt2pt/p2p.h"

/* The words of a value behind the dead: the flag and what the members call, all combined by AND;
 * the set of the dead that all members have acknowledged; for a shrink a proposal of context ids.
 */
enum { FLAG_BITS = 32 };
static const uint64_t WEFT_AGREE_FLAG = (uint64_t)1 << FLAG_BITS,
                      WEFT_AGREE_SHRINK = (uint64_t)2 << FLAG_BITS,
                      WEFT_AGREE_FREE = (uint64_t)4 << FLAG_BITS,
                      WEFT_AGREE_WORDS = (uint64_t)8 << FLAG_BITS; /* board.h */

struct weft_agree_call {
    struct weft_agree_call *next;
    uint64_t what;
    int flag, *result;
    struct weft_bid bid;
    struct weft_comm *made;       /* of a shrink */
    struct weft_request *request; /* NULL: the caller waits until `done` is set */
    bool contributed, done;
    bool unattended;  /* neither a caller nor a request needs the result */
    bool stored;      /* the word of this rank (board.h) is stored */
    bool by_messages; /* the words do not decide the call */
    int read;         /* members whose words were read */
    int code;
};

struct weft_agree_header;
struct weft_agree_sending;

struct weft_agree_receive {
    struct weft_channel *channel;
    struct weft_request *request;
    struct weft_agree_header *message;
};

struct weft_agree {
    struct weft_agree *next;
    struct weft_comm *comm;
    struct weft_agreement *agreement;
    int seen;                              /* deaths of the process's record that were passed on */
    struct weft_agree_call *calls, **end;  /* the first one is active */
    struct weft_agree_receive receives[2]; /* the second: of the local group's channel */
    struct weft_agree_sending *sends;
    uint64_t *value;  /* to contribute */
    uint32_t shrinks; /* so far: the keys of their bids */
    bool closing;     /* the last call has ended */
    bool by_words;    /* the next call begins with words, at all members */
    bool awaits_word; /* counted in coll.shared of the VCI, for short sleeps */
    uint32_t number;  /* of the last call by words */
};

/* ---- agree.c */

/* The process of a member, and the member of a process, or -1. */
int weft_agree_world_of(const struct weft_agree *agree, int member);
int weft_agree_member_of_world(const struct weft_agree *agree, int world);

/* Other members have found members dead, of which this process has had no report yet. */
void weft_agree_add_deaths(struct weft_agree *agree, const uint64_t *dead);

/* ---- agree_calls.c */

/* Contributes the first call, and ends the calls that are decided. Returns their number. */
int weft_agree_advance_calls(struct weft_agree *agree);

/* For a call that has not contributed by messages. False: it waits. */
bool weft_agree_try_words(struct weft_agree *agree, struct weft_agree_call *call);

/* waits: the first call waits for the words of others (board.h). */
void weft_agree_note_wait(struct weft_agree *agree, bool waits);

bool weft_agree_is_empty(const struct weft_agree *agree, const uint64_t *set);

#endif
