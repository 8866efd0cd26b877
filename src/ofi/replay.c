// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that arrive a second time, where the provider matches.
 *
 * tcp completes a frame whose header is shorter than its format with the fields of an earlier
 * message: tag, length and completion data, which contain the job's key. So anyone who can connect
 * to a rank can make ofi_rxm report an earlier message once more, with other data. What the copy
 * cannot have is a sequence number of its own. Each eager message carries the 32 bits of its
 * number, and this file records the numbers that were received, of the last ones of each sender.
 *
 * The provider matches messages out of order, but a sender has at most 2 * (1024 + 1) messages that
 * its receiver has not taken (credits.c). A message that is older than these is a copy.
 *
 * Invariants:
 *  - seen has a bit for each number in [end - KEPT, end), and no other.
 *  - The first message of a sender begins its record; numbers before it are not recorded yet.
 */
#include "ofi/replay.h"

#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

/* The last numbers of a sender: twice the messages of a sender that its receiver has not taken. */
enum { KEPT = 4096, WORD = 64 };

struct weft_replay_record {
    uint32_t end; /* one more than the highest number received */
    uint64_t seen[KEPT / WORD];
};

void weft_replays_open(struct weft_replays *replays, uint32_t senders)
{
    *replays = (struct weft_replays){.senders = senders};
}

void weft_replays_close(struct weft_replays *replays)
{
    for (uint32_t i = 0; replays->records && i < replays->senders; i++)
        free(replays->records[i]);
    free(replays->records);
    *replays = (struct weft_replays){0};
}

static struct weft_replay_record *open_record(struct weft_replays *replays, uint32_t sender,
                                              uint32_t number)
{
    if (!replays->records)
        replays->records = calloc(replays->senders, sizeof(struct weft_replay_record *));
    if (!replays->records)
        return NULL;
    struct weft_replay_record *record = replays->records[sender] = calloc(1, sizeof *record);
    if (record)
        record->end = number;
    return record;
}

static uint64_t *word_of(struct weft_replay_record *record, uint32_t number)
{
    return &record->seen[number % KEPT / WORD];
}

static uint64_t bit_of(uint32_t number)
{
    return UINT64_C(1) << number % WORD;
}

/* Moves the record on, so that the number is its last one, not yet recorded. */
static void advance(struct weft_replay_record *record, uint32_t number)
{
    if (number - record->end >= KEPT)
        memset(record->seen, 0, sizeof record->seen);
    else
        for (uint32_t i = record->end; i != number + 1; i++)
            *word_of(record, i) &= ~bit_of(i);
    record->end = number + 1;
}

enum weft_replay_result weft_replay_take(struct weft_replays *replays, uint32_t sender,
                                         uint32_t number)
{
    weft_assert(sender < replays->senders);
    struct weft_replay_record *record = replays->records ? replays->records[sender] : NULL;
    if (!record)
        record = open_record(replays, sender, number);
    if (!record)
        return WEFT_REPLAY_NO_MEMORY;
    if ((int32_t)(number - record->end) >= 0)
        advance(record, number);
    else if (record->end - number > KEPT || *word_of(record, number) & bit_of(number))
        return WEFT_REPLAY_AGAIN;
    *word_of(record, number) |= bit_of(number);
    return WEFT_REPLAY_FIRST;
}
