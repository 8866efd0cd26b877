// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages, as the files of the checker that follow them share it: messages.c (the calls),
 * message_arguments.c, message_requests.c and message_waits.c.
 */
#ifndef WEFT_CHECK_MESSAGES_INTERNAL_H
#define WEFT_CHECK_MESSAGES_INTERNAL_H

#include "tools/check/channel.h"
#include "tools/check/gathering.h"
#include "tools/check/matching.h"
#include "tools/check/messages.h"

enum { CHECK_FEW = 2 }; /* requests of a frame without memory of its own */

/* A request or message of the program. */
struct check_pending {
    struct check_pending *next;
    const void *handle;
    bool is_persistent, is_send, is_sending, is_buffered;
    bool is_cancelled;           /* MPI_Cancel was called; the status shows whether in time */
    struct check_record send;    /* is_send: the record of each start */
    struct check_posted like;    /* of a persistent receive */
    struct check_posted *posted; /* NULL: none is active */
    int dest;
    uint64_t comm, number;            /* of the message */
    struct check_gathering gathering; /* of a collective call */
};

/* A call between its begin and its end. */
struct check_frame {
    struct check_frame *below;
    const struct weft_call *call;
    uintptr_t at; /* the frame of the call in the stack */
    struct check_posted *posted;
    int dest; /* of the record; CHECK_ANY: there is none */
    struct check_record record;
    int64_t n;
    const void **handles;
    MPI_Status *statuses; /* replaces MPI_STATUS_IGNORE */
    const void *few_handles[CHECK_FEW];
    MPI_Status few_statuses[CHECK_FEW];
};

extern CHECK_THREAD struct check_frame *check_frames; /* the innermost call of the thread first */

/* The frame of a call; NULL: it has none. */
static inline struct check_frame *check_frame_of(const struct weft_call *call)
{
    return check_frames && check_frames->call == call ? check_frames : NULL;
}

/* ---- message_requests.c */

/* A request or message; NULL: there is none. Another one of the same handle is replaced. */
struct check_pending *check_pending_find(const void *handle);
struct check_pending *check_pending_add(const void *handle);
void check_pending_drop(const void *handle);

/* ---- message_arguments.c */

/* The data that a call sends, or those that it receives; NULL: there are none. */
const struct weft_parameter *check_data_of(const struct weft_call *call, bool is_receive);
struct check_side check_describe_side(const struct weft_call *call,
                                      const struct weft_parameter *data);

/* The record of a send, and its receiver; false: it is not compared. */
bool check_read_send(const struct weft_call *call, struct check_record *record, int *dest);

/* The same for a receive or probe. */
bool check_read_receive(const struct weft_call *call, struct check_posted *posted);

#endif
