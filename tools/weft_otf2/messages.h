// SPDX-License-Identifier: BSD-3-Clause
/*
 * The messages of a time line whose both ends are on it.
 */
#ifndef WEFT_OTF2_MESSAGES_H
#define WEFT_OTF2_MESSAGES_H

#include "timeline_file.h"

struct message {
    uint64_t id, bytes;
    int32_t sender, receiver; /* receiver -1: its end is not on the time line */
    int32_t tag;
};

/* Adds an end. */
void messages_add(const struct entry *entry);

/* After the last end: matches them. */
void messages_match(void);

/* NULL: it has one end only. */
const struct message *messages_find(uint64_t id);

/* Grows a list that has n elements if it is full: at 0, and at powers of two. */
void *grown_list(void *list, size_t n, size_t each);

#endif
