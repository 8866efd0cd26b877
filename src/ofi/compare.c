// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lost messages. The TCP providers silently make a connection again that was reset, by the other
 * kernel, a firewall, or a second connection that claims the address of a peer; what had been
 * injected, or had left this kernel, is lost without an error. So each rank counts the messages
 * that it gives to the provider for a peer (user messages and controls), and those that it takes
 * from each peer. A rank that waits sends the first number to its peer (COMPARE) when it has been
 * the same for a second; the peer compares it with the second one, and replies (COMPARED).
 *
 * libfabric matches the messages of a sender in the order in which they were sent, so a message
 * that was sent before a COMPARE and is not here after it is lost. A layered provider may complete
 * it some reads of its queue later, and a rank of a busy machine reads seldom. So the job ends only
 * if it is missing in TIMES COMPAREs and for 4 seconds, while the sender sends nothing else. No
 * time limit for a reply exists: a rank that is stopped, computes or is behind a slow network takes
 * the COMPAREs when it comes to them, behind the messages.
 *
 * If no new connection can be made, COMPARE cannot leave: the provider returns -FI_EAGAIN. It also
 * does for a peer that is stopped, or slow, whose connection exists. So the job ends if, for 15
 * seconds, the provider accepted no COMPARE to a peer that was reached before, and then this rank
 * has no socket that is connected, or being connected, with the peer's host.
 *
 * COMPARE and COMPARED are not counted, and are repeated, so they may be lost. A pair of ranks
 * exchanges them once after its last message.
 *
 * Invariants:
 *  - A message is counted as sent when the provider accepts it, and as taken once.
 *  - Messages for a communicator that is not open here yet are taken without a sender
 *    (net->unattributed), and as many missing messages are no loss.
 */
#include "core/base/error.h"
#include "core/base/clock.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/net.h"
#include "ofi/credits.h"
#include "ofi/ofi_internal.h"

enum { TIMES = 3 };

/* Seconds until the first COMPARE and between two looks; the longest between two COMPAREs. */
static const double first = 1, longest = 16;

/* Seconds for which a message is missing until it is lost. */
static const double missing_most = 4;

/* Seconds without a connection until the job ends: providers make a new one at once, or in 5 s. */
static const double gone = 15;

bool weft_net_compare_due(struct weft_net_compare *compare, uint32_t sent, double now)
{
    if (sent == compare->confirmed)
        return false;
    if (sent != compare->sent) {
        compare->sent = sent;
        compare->wait = first;
        compare->at = now + first;
        return false;
    }
    if (now < compare->at)
        return false;
    compare->at = now + compare->wait;
    compare->wait = 2 * compare->wait < longest ? 2 * compare->wait : longest;
    return true;
}

uint32_t weft_net_compare_lost(struct weft_net_compare *compare, uint32_t claimed, uint32_t taken,
                               double now, bool *missing)
{
    int32_t behind = (int32_t)(claimed - taken);
    *missing = behind > 0;
    if (!*missing) {
        compare->times = 0;
        return 0;
    }
    if (!compare->times || claimed != compare->claimed || (uint32_t)behind != compare->missing) {
        compare->claimed = claimed;
        compare->missing = (uint32_t)behind;
        compare->times = 0;
        compare->since = now;
    }
    return ++compare->times >= TIMES && now - compare->since >= missing_most ? compare->missing : 0;
}

void weft_net_leave(void)
{
    weft_net.leaving = true;
}

/* Adapters report a message that they could not deliver (keepalive.c). Where a PEEK may miss a
 * message, one that is not found is no loss. */
static bool is_tcp(void)
{
    uint32_t format = weft_net.choice.info->addr_format;
    return !(weft_net.choice.row->flags & (WEFT_PROVIDER_REPORTS | WEFT_PROVIDER_MISSES)) &&
           (format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6);
}

/* The provider accepts no COMPARE to a peer. One peer at a time is followed. */
static void refused(struct weft_peer *peer, double now)
{
    struct weft_net_compare *compare = &weft_net_peer(peer)->compare;
    char host[256];
    compare->wait = first;
    compare->at = now + first;
    if (!weft_net.refused) {
        weft_net.refused = peer;
        weft_net.refused_since = now;
    }
    if (weft_net.refused != peer || now - weft_net.refused_since < gone)
        return;
    if (weft_net_is_connected(peer)) {
        weft_net.refused = NULL;
        return;
    }
    weft_failure_lost(
        peer->world, MPI_ERR_OTHER,
        "the connection to rank %d on %s over %s has ended, and no new one could be "
        "made for %.0f seconds; %u messages to that rank are not confirmed; see whether "
        "that rank still runs, and whether a firewall or another program ends "
        "connections of the job",
        peer->world, weft_boot_host(peer->world, host, sizeof host), weft_net_name(),
        now - weft_net.refused_since, compare->sent - compare->confirmed);
}

static void compare_peer(struct weft_peer *peer, double now)
{
    uint32_t sent = peer->sequence + weft_net_peer(peer)->controls;
    if (!weft_net_compare_due(&weft_net_peer(peer)->compare, sent, now))
        return;
    if (!weft_net_control_try(peer,
                              (struct weft_net_control){.kind = WEFT_NET_COMPARE, .number = sent}))
        refused(peer, now);
    else if (weft_net.refused == peer)
        weft_net.refused = NULL;
}

void weft_net_compare_peers(double now)
{
    if (now < weft_net.compare_at || !is_tcp())
        return;
    weft_net.compare_at = now + first / 2;
    for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++) {
        for (int rank = 0; rank < weft.job.size; rank++) {
            struct weft_peer *peer = weft_peer_find(vci_number, rank);
            if (peer && weft_net_is_alive(peer))
                compare_peer(peer, now);
        }
    }
}

_Noreturn static void end_job(const struct weft_peer *peer, uint32_t lost, uint32_t claimed)
{
    char host[256];
    weft_fatal(MPI_ERR_OTHER,
               "%u of the %u messages that rank %d on %s has sent to this rank over %s are lost, "
               "because a connection between them was reset or replaced; see whether a firewall "
               "or another program ends connections of the job",
               lost, claimed, peer->world, weft_boot_host(peer->world, host, sizeof host),
               weft_net_name());
}

void weft_net_compare(struct weft_net_vci *net, const struct weft_net_control *control)
{
    uint32_t claimed = (uint32_t)control->number;
    bool missing;
    weft_net_collect_unexpected(net);
    struct weft_peer *peer = weft_peer_get(control->vci_number, control->from);
    if (!peer || !weft_net_is_alive(peer) || weft_net.leaving)
        return;
    uint32_t lost = weft_net_compare_lost(&weft_net_peer(peer)->compare, claimed,
                                          weft_net_taken(net, peer), weft_seconds(), &missing);
    if (lost > net->unattributed)
        end_job(peer, lost, claimed);
    weft_net_control_try(peer, (struct weft_net_control){
                                   .kind = WEFT_NET_COMPARED, .count = missing, .number = claimed});
}

void weft_net_compared(struct weft_peer *peer, const struct weft_net_control *control)
{
    struct weft_net_compare *compare = &weft_net_peer(peer)->compare;
    if (!control->count)
        compare->confirmed = (uint32_t)control->number;
    compare->wait = first;
    if (compare->at > weft_seconds() + first)
        compare->at = weft_seconds() + first;
}
