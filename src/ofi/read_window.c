// SPDX-License-Identifier: BSD-3-Clause
/*
 * The window of the reads from one peer over a stream.
 *
 * net and tcp put the data that peers read before everything else that waits for the socket, also
 * before the rank's own requests. So while more data are requested than the socket takes, a rank
 * that is read from requests nothing itself: two ranks that exchange long messages take turns, and
 * each direction has half of the link. A short message waits as long. With few bytes requested,
 * they are all in the socket, and what follows them is at most their time away.
 *
 * The window is what arrives in PERIOD at the measured rate, or in two round trips if these are
 * longer: with a window of one round trip the rate doubles from one measurement to the next until
 * the link is full. The round trip is the time of a read that started while no other was in flight,
 * less the time of its bytes at that rate, but at least 0.6 of it, so that a window grows while the
 * rate is not that of the link yet. It falls at once, because what else is queued only adds
 * to it, and rises slowly, as where processes take turns on a core. A rate is measured over a
 * window and a round trip, so that data that wait in the socket do not look fast, and a window at
 * most halves at a time, because a process may be stopped meanwhile.
 *
 * Messages longer than 1 MiB have at most 2 MiB, or half a read and what arrives in two round
 * trips: data in megabytes of the kernel's pages have likely left the cache before the other core
 * reads them, and a loop of raw reads was up to 1.4 times as fast with 2 MiB. For shorter ones the
 * sender's calls take more of the time, and it makes fewer calls if it finds several requests at
 * once.
 */
#include "ofi/read_window.h"

enum { LEAST = 128 << 10, MOST = 64 << 20, RISE = 8 };

/* Seconds; the last until a round trip has been measured twice, because the first read of a peer
 * may wait for its connection. */
static const double period = 0.004, longest_period = 0.1, longest_at_first = 0.02;

static const double least_trip = 0.6; /* of the time of the read */

void weft_read_window_open(struct weft_read_window *window, size_t bytes)
{
    *window = (struct weft_read_window){.measured = !bytes};
    window->all = window->of_long = bytes ? bytes : LEAST;
}

static double within(double bytes, double least, double most)
{
    return bytes < least ? least : bytes > most ? most : bytes;
}

/* Computes the round trip from the time of the read that started alone. */
static void measure_round_trip(struct weft_read_window *window, double rate)
{
    double before = window->trip_before, trip = window->alone - window->alone_bytes / rate;
    if (trip < least_trip * window->alone)
        trip = least_trip * window->alone;
    if (trip > before && before > 0)
        trip = before + (trip - before) / RISE;
    window->round_trip = (float)trip;
}

void weft_read_window_measure(struct weft_read_window *window, double now)
{
    double seconds = now - window->mark;
    if (window->first) {
        window->first = false;
        window->alone = (float)seconds;
        window->trip_before = window->round_trip;
        window->arrived = 0;
        window->mark = now;
        return;
    }
    if (window->arrived < window->all || seconds < (double)window->round_trip || seconds <= 0)
        return;
    double rate = (double)window->arrived / seconds;
    measure_round_trip(window, rate);
    double trip = window->round_trip;
    double time = 2 * trip > period ? 2 * trip : period;
    double longest = window->trip_before > 0 ? longest_period : longest_at_first;
    double bytes = rate * (time < longest ? time : longest);
    double of_long = 2 * rate * trip + WEFT_READ_LONG_WINDOW / 4;
    if (bytes < (double)window->all / 2)
        bytes = (double)window->all / 2;
    window->all = (size_t)within(bytes, LEAST, MOST);
    window->of_long = (size_t)within(bytes, LEAST, within(of_long, WEFT_READ_LONG_WINDOW, MOST));
    window->arrived = 0;
    window->mark = now;
}
