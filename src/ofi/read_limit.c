// SPDX-License-Identifier: BSD-3-Clause
/*
 * The limit of the reads from one peer over a stream.
 *
 * net and tcp put the data that peers read before everything else that waits for the socket, also
 * before the rank's own requests. So while more data are requested than the socket takes, a rank
 * that is read from requests nothing itself: two ranks that exchange long messages take turns, and
 * each direction has half of the link. A short message waits as long. With few bytes requested,
 * they are all in the socket, and what follows them is at most their time away.
 *
 * The limit is what arrives in PERIOD at the measured rate, or in two round trips if these are
 * longer: with a limit of one round trip the rate doubles from one measurement to the next until
 * the link is full. The round trip is the time of a read that started while no other was in flight,
 * less the time of its bytes at that rate, but at least 0.6 of it, so that a limit grows while the
 * rate is not that of the link yet. It falls at once, because what else is queued only adds to it.
 * It rises slowly, as where processes take turns on a core, and at most to the lower one of the
 * last two such reads: one of them may have waited behind all that a peer without a rate has
 * requested, which takes 0.2 s at 50 Mbit/s. A rate is measured over a limit and a round trip, so
 * that data that wait in the socket do not look fast, and a limit at most halves at a time, because
 * a process may be stopped meanwhile.
 *
 * The first read of a peer may wait for its connection, or for a process that computes. So a round
 * trip of more than 10 ms is measured a second time before the limit follows it: no read starts
 * until none is in flight. Both reads are short, because their bytes take time, too.
 *
 * In an exchange peers read from this rank, too, and a request waits behind their data. Requests
 * share the queues in proportion to the two limits, so that the rank with the lower limit receives
 * less, measures a lower rate and keeps its lower limit. Therefore both limits follow the rate of
 * the link: the highest rate that was measured during the exchange, for 10 ms or three round
 * trips. The bytes that may wait before a read that starts alone are subtracted from its time. On
 * a long path, where the shortest such read takes more than 10 ms, its round trip is at least 0.6
 * of that: if the rate is low because the limit is, too many bytes would seem to have waited.
 *
 * Messages longer than 1 MiB have at most 2 MiB, or half a read and what arrives in two round
 * trips: data in megabytes of the kernel's pages have likely left the cache before the other core
 * reads them, and a loop of raw reads was up to 1.4 times as fast with 2 MiB. For shorter ones the
 * sender's calls take more of the time, and it makes fewer calls if it finds several requests at
 * once.
 */
#include "ofi/read_limit.h"

/* The first limit is the longest message that is read at once: a peer that has sent few messages
 * has no rate yet, and such a message takes one round trip. */
enum { LEAST = 128 << 10, START = WEFT_READ_LONG, MOST = 64 << 20, RISE = 8 };

/* Seconds; the longest period is that of more than two round trips around the earth. */
static const double period = 0.004, longest_period = 1, long_trip = 0.01;
static const double period_of_exchange = 0.01, longest_exchange = 0.1;

/* Fractions of the time of the read. */
static const double least_trip = 0.6, least_trip_of_exchange = 0.1;

/* Bytes a second. A read of more than 10 ms at a higher rate has not waited behind the first
 * limit, which leaves in 52 ms at this rate, but is on a long path. */
static const double slow = 20e6;

void weft_read_limit_open(struct weft_read_limit *limit, size_t bytes)
{
    *limit = (struct weft_read_limit){.measured = !bytes};
    limit->all = limit->of_long = bytes ? bytes : START;
}

static double within(double bytes, double least, double most)
{
    return bytes < least ? least : bytes > most ? most : bytes;
}

/* Computes the round trip from the time of the read that started alone. */
static void measure_round_trip(struct weft_read_limit *limit, double rate)
{
    double before = limit->trip_before, trip = limit->alone - limit->alone_bytes / rate;
    bool queued = limit->exchange && ((double)limit->alone < long_trip || rate < slow);
    double least = (queued ? least_trip_of_exchange : least_trip) * limit->alone;
    double unqueued = least_trip * ((double)limit->shortest - WEFT_READ_LEAST / rate);
    if ((double)limit->shortest > long_trip && least < unqueued)
        least = unqueued;
    if (trip < least)
        trip = least;
    limit->seen = (float)trip;
    if (trip > before && before > 0) {
        if (trip > (double)limit->other)
            trip = limit->other;
        trip = trip > before ? before + (trip - before) / RISE : before;
    }
    limit->round_trip = (float)trip;
}

void weft_read_limit_measure(struct weft_read_limit *limit, double now)
{
    double seconds = now - limit->mark;
    if (limit->first) {
        limit->first = false;
        limit->drains = false;
        limit->alone = (float)seconds;
        if (!(limit->shortest > 0) || limit->alone < limit->shortest)
            limit->shortest = limit->alone;
        limit->trip_before = limit->round_trip;
        limit->other = limit->seen;
        limit->arrived = 0;
        limit->mark = now;
        return;
    }
    if (limit->arrived < limit->all || seconds < (double)limit->round_trip || seconds <= 0)
        return;
    double rate = (double)limit->arrived / seconds;
    if (limit->exchange && rate < (double)limit->rate)
        rate = (double)limit->rate;
    limit->rate = (float)rate;
    measure_round_trip(limit, rate);
    double trip = limit->round_trip;
    if (trip > long_trip && !(limit->trip_before > 0)) {
        limit->drains = true;
        return;
    }
    double longest = limit->exchange ? longest_exchange : longest_period;
    double bytes = limit->exchange ? rate * within(3 * trip, period_of_exchange, longest)
                                   : rate * within(2 * trip, period, longest);
    double of_long = rate * within(2 * trip, 0, longest) + WEFT_READ_LONG_LIMIT / 4;
    if (bytes < (double)limit->all / 2)
        bytes = (double)limit->all / 2;
    limit->all = (size_t)within(bytes, LEAST, MOST);
    limit->of_long = (size_t)within(bytes, LEAST, within(of_long, WEFT_READ_LONG_LIMIT, MOST));
    limit->arrived = 0;
    limit->mark = now;
}
