// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that arrive a second time, where the provider matches: see replay.c.
 */
#ifndef WEFT_REPLAY_H
#define WEFT_REPLAY_H

#include <stdint.h>

struct weft_replay_record;

struct weft_replays {
    struct weft_replay_record **records; /* by sender; NULL before the first message */
    uint32_t senders;
};

void weft_replays_open(struct weft_replays *replays, uint32_t senders);
void weft_replays_close(struct weft_replays *replays);

enum weft_replay_result { WEFT_REPLAY_FIRST, WEFT_REPLAY_AGAIN, WEFT_REPLAY_NO_MEMORY };

/* A message of a sender was received. FIRST: its number is recorded. AGAIN: the number was recorded
 * before, or is too old to be known. */
enum weft_replay_result weft_replay_take(struct weft_replays *replays, uint32_t sender,
                                         uint32_t number);

#endif
