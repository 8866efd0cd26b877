// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages that arrive a second time, where the provider matches.
 *
 * tcp completes a frame whose header is shorter than its format with the fields of an earlier
 * message: tag, length and completion data, which contain the job's key. So anyone who can connect
 * to a rank can make ofi_rxm report an earlier message once more, with other data. What the copy
 * cannot have is a sequence number of its own. Each eager message carries the 32 bits of its
 * number, and this file records the numbers that were received, in a window for each sender.
 *
 * The provider matches messages out of order, but a sender has at most 2 * (1024 + 1) messages that
 * its receiver has not taken (credits.c). A message that is older than the window is a copy.
 *
 * Invariants:
 *  - seen has a bit for each number in [end - WINDOW, end), and no other.
 *  - The first message of a sender opens its window; numbers before it are not recorded yet.
 */
#include "ofi/replay.h"

#include "core/base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Numbers that a window has: twice the messages of a sender that its receiver has not taken. */
enum { WINDOW = 4096, WORD = 64 };

struct weft_replay_window {
    uint32_t end; /* one more than the highest number received */
    uint64_t seen[WINDOW / WORD];
};

void weft_replays_open(struct weft_replays *replays, uint32_t senders)
{
    *replays = (struct weft_replays){.senders = senders};
}

void weft_replays_close(struct weft_replays *replays)
{
    for (uint32_t i = 0; replays->windows && i < replays->senders; i++)
        free(replays->windows[i]);
    free(replays->windows);
    *replays = (struct weft_replays){0};
}

static struct weft_replay_window *open_window(struct weft_replays *replays, uint32_t sender,
                                              uint32_t number)
{
    if (!replays->windows)
        replays->windows = calloc(replays->senders, sizeof(struct weft_replay_window *));
    if (!replays->windows)
        return NULL;
    struct weft_replay_window *window = replays->windows[sender] = calloc(1, sizeof *window);
    if (window)
        window->end = number;
    return window;
}

static uint64_t *word_of(struct weft_replay_window *window, uint32_t number)
{
    return &window->seen[number % WINDOW / WORD];
}

static uint64_t bit_of(uint32_t number)
{
    return UINT64_C(1) << number % WORD;
}

/* Moves the window, so that the number is its last one, not yet recorded. */
static void advance(struct weft_replay_window *window, uint32_t number)
{
    if (number - window->end >= WINDOW)
        memset(window->seen, 0, sizeof window->seen);
    else
        for (uint32_t i = window->end; i != number + 1; i++)
            *word_of(window, i) &= ~bit_of(i);
    window->end = number + 1;
}

enum weft_replay_verdict weft_replay_take(struct weft_replays *replays, uint32_t sender,
                                          uint32_t number)
{
    weft_assert(sender < replays->senders);
    struct weft_replay_window *window = replays->windows ? replays->windows[sender] : NULL;
    if (!window)
        window = open_window(replays, sender, number);
    if (!window)
        return WEFT_REPLAY_NO_MEMORY;
    if ((int32_t)(number - window->end) >= 0)
        advance(window, number);
    else if (window->end - number > WINDOW || *word_of(window, number) & bit_of(number))
        return WEFT_REPLAY_AGAIN;
    *word_of(window, number) |= bit_of(number);
    return WEFT_REPLAY_FIRST;
}
