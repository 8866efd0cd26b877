// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages: see messages.h.
 */
#include "messages.h"

#include <stdlib.h>

static struct {
    size_t n, receives_n;
    struct message *list; /* from messages_match on in the order of ids */
    struct receive {
        uint64_t id;
        int32_t rank;
    } * receives;
} messages;

void *grown_list(void *list, size_t n, size_t each)
{
    if (n & (n - 1))
        return list;
    list = realloc(list, (n ? 2 * n : 1) * each);
    if (!list) {
        fprintf(stderr, "weft-report: no memory for %zu events.\n", 2 * n);
        exit(1);
    }
    return list;
}

void messages_add(const struct entry *entry)
{
    if (entry->kind == ENTRY_SEND) {
        messages.list = grown_list(messages.list, messages.n, sizeof *messages.list);
        messages.list[messages.n++] =
            (struct message){entry->id, entry->bytes, entry->rank, -1, entry->tag};
    } else {
        messages.receives =
            grown_list(messages.receives, messages.receives_n, sizeof *messages.receives);
        messages.receives[messages.receives_n++] = (struct receive){entry->id, entry->rank};
    }
}

static int by_id(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct message *find(uint64_t id)
{
    const struct message key = {.id = id};
    return messages.n ? bsearch(&key, messages.list, messages.n, sizeof key, by_id) : NULL;
}

void messages_match(void)
{
    if (messages.n)
        qsort(messages.list, messages.n, sizeof *messages.list, by_id);
    for (size_t i = 0; i < messages.receives_n; i++) {
        struct message *message = find(messages.receives[i].id);
        if (message)
            message->receiver = messages.receives[i].rank;
    }
}

const struct message *messages_find(uint64_t id)
{
    const struct message *message = find(id);
    return message && message->receiver >= 0 ? message : NULL;
}
