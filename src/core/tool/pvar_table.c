// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of performance variables and their values: see pvar.h.
 *
 * Invariant: reading changes nothing, and reads only words that stay where they are while MPI
 * starts, runs and stops, or that weft_count_close takes over under the lock.
 */
#include "core/tool/pvar.h"
#include "core/cell.h"

#include "core/tool/count.h"
#include "core/weft.h"
#include "ofi/net.h"
#include "shm/shm.h"

#define COUNTER(name, category, field, help)                                                       \
    {                                                                                              \
        name, MPI_T_PVAR_CLASS_COUNTER, category, WEFT_PVAR_WORD, &weft_counts.field, NULL, false, \
            help                                                                                   \
    }
#define BYTES(name, category, field, help)                                                         \
    {                                                                                              \
        name, MPI_T_PVAR_CLASS_AGGREGATE, category, WEFT_PVAR_WORD, &weft_counts.field, NULL,      \
            false, help                                                                            \
    }
#define ALL(name, class, category, field, help)                                                    \
    {                                                                                              \
        name, class, category, WEFT_PVAR_WORD, &weft_counts.field, NULL, true,                     \
            help " (WEFT_COUNTERS=all)"                                                            \
    }
#define DERIVED(name, class, category, source, help)                                               \
    {                                                                                              \
        name, class, category, source, NULL, NULL, false, help                                     \
    }
#define RANKS(name, class, source, all, help)                                                      \
    {                                                                                              \
        name, class, WEFT_TOOL_PROCESS, source, NULL, NULL, all, help                              \
    }
#define LEVEL(name, category, field, help)                                                         \
    {                                                                                              \
        name, MPI_T_PVAR_CLASS_LEVEL, category, WEFT_PVAR_PEAK, NULL, &weft_counts.field, false,   \
            help                                                                                   \
    }
#define HIGH(name, category, field, help)                                                          \
    {                                                                                              \
        name, MPI_T_PVAR_CLASS_HIGHWATERMARK, category, WEFT_PVAR_PEAK, NULL, &weft_counts.field,  \
            false, help                                                                            \
    }

enum { SELF, SHM, NET }; /* as in weft_counts.bytes_sent */

const struct weft_pvar_row weft_pvar_table[] = {
    DERIVED("weft_state", MPI_T_PVAR_CLASS_STATE, WEFT_TOOL_PROCESS, WEFT_PVAR_STATE,
            "whether MPI runs in this process; idle: it does, and nobody uses it (all sessions are "
            "finalized)"),
    DERIVED("weft_peers", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_PROCESS, WEFT_PVAR_PEERS,
            "other ranks that this one is in contact with"),
    COUNTER("weft_contacts", WEFT_TOOL_PROCESS, contacts, "first contacts with other ranks"),
    COUNTER("weft_deaths", WEFT_TOOL_PROCESS, deaths, "ranks in contact that were reported dead"),
    COUNTER("weft_yields", WEFT_TOOL_PROCESS, yields,
            "times that a waiting rank gave its core away"),
    COUNTER("weft_sleeps", WEFT_TOOL_PROCESS, sleeps, "times that a waiting rank slept"),
    {"weft_time_asleep", MPI_T_PVAR_CLASS_TIMER, WEFT_TOOL_PROCESS, WEFT_PVAR_WORD,
     &weft_counts.asleep, NULL, false, "seconds that a waiting rank slept"},
    DERIVED("weft_request_bytes", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_PROCESS,
            WEFT_PVAR_REQUEST_BYTES, "memory of the pool of requests"),
    COUNTER("weft_collectives", WEFT_TOOL_COLLECTIVES, collectives,
            "collective operations started, the library's own included"),

    COUNTER("weft_self_messages_sent", WEFT_TOOL_PROCESS, self_messages,
            "messages of this process to itself"),
    BYTES("weft_self_bytes_sent", WEFT_TOOL_PROCESS, self_bytes,
          "bytes of messages of this process to itself"),

    DERIVED("weft_posted_receives", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_MATCHING, WEFT_PVAR_POSTED,
            "receives that wait in the software matcher"),
    COUNTER("weft_unexpected_messages", WEFT_TOOL_MATCHING, kept,
            "messages kept in memory because no receive waited for them"),
    LEVEL("weft_unexpected_queue", WEFT_TOOL_MATCHING, unexpected,
          "messages that are kept now; those inside a provider that matches are not seen"),
    HIGH("weft_unexpected_queue_high", WEFT_TOOL_MATCHING, unexpected,
         "the most messages kept at a time"),
    LEVEL("weft_unexpected_bytes", WEFT_TOOL_MATCHING, unexpected_bytes,
          "memory that the data of messages kept take"),
    HIGH("weft_unexpected_bytes_high", WEFT_TOOL_MATCHING, unexpected_bytes,
         "the most memory that they took"),

    DERIVED("weft_net_messages_sent", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_NET, WEFT_PVAR_NET_SENT,
            "messages sent over the network, of collectives too, by whatever protocol"),
    COUNTER("weft_net_rendezvous_sent", WEFT_TOOL_NET, net_rendezvous,
            "messages announced over the network by an RTS"),
    BYTES("weft_net_rendezvous_bytes_sent", WEFT_TOOL_NET, net_rendezvous_bytes,
          "bytes of messages announced by an RTS"),
    DERIVED("weft_net_rendezvous_in_flight", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_NET,
            WEFT_PVAR_NET_IN_FLIGHT, "announced sends that have not ended"),
    DERIVED("weft_net_fetching", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_NET, WEFT_PVAR_NET_FETCHING,
            "announced messages that have matched here and are being fetched"),
    COUNTER("weft_net_credit_waits", WEFT_TOOL_NET, net_unpaid,
            "short messages that were announced because their receiver has too many of this "
            "rank's without receives (WEFT_EAGER_CREDITS)"),
    COUNTER("weft_net_relief_questions", WEFT_TOOL_NET, net_questions,
            "questions to peers whether they have taken what was sent"),
    COUNTER("weft_net_dropped", WEFT_TOOL_NET, net_dropped,
            "control messages that came and were dropped: they fit no operation of this rank"),
    COUNTER("weft_net_backlogged", WEFT_TOOL_NET, net_backlogged,
            "messages and controls that had to wait before the provider took them"),
    LEVEL("weft_net_backlog", WEFT_TOOL_NET, net_backlog, "messages and controls that wait now"),
    HIGH("weft_net_backlog_high", WEFT_TOOL_NET, net_backlog, "the most that waited at a time"),
    COUNTER("weft_net_controls_sent", WEFT_TOOL_NET, net_controls,
            "control messages (acknowledgements, ends of rendezvous, credits)"),
    DERIVED("weft_net_receives", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_NET, WEFT_PVAR_NET_COMPLETED,
            "receives that the provider has matched or given back"),
    DERIVED("weft_net_posted_receives", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_NET, WEFT_PVAR_NET_POSTED,
            "receives that the provider holds"),
    DERIVED("weft_net_receive_queue", MPI_T_PVAR_CLASS_PERCENTAGE, WEFT_TOOL_NET,
            WEFT_PVAR_NET_FILL, "how full the provider's receive queue is with them"),
    COUNTER("weft_net_registrations", WEFT_TOOL_NET, net_registrations, "registrations of memory"),
    {"weft_net_stage_bytes", MPI_T_PVAR_CLASS_LEVEL, WEFT_TOOL_NET, WEFT_PVAR_WORD,
     &weft_counts.net_stages, NULL, false, "memory for data that are packed while they travel"},
    DERIVED("weft_net_eager_limit", MPI_T_PVAR_CLASS_SIZE, WEFT_TOOL_NET, WEFT_PVAR_NET_EAGER_LIMIT,
            "longest message that is sent without waiting for its "
            "receive; 0: no network is open"),

    DERIVED("weft_shm_messages_sent", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_SHM, WEFT_PVAR_SHM_SENT,
            "messages sent through shared memory, of collectives too"),
    DERIVED("weft_shm_messages_received", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_SHM,
            WEFT_PVAR_SHM_ARRIVED, "messages that came through shared memory"),
    COUNTER("weft_shm_rendezvous_sent", WEFT_TOOL_SHM, shm_rendezvous,
            "messages announced through shared memory by an RTS"),
    BYTES("weft_shm_rendezvous_bytes_sent", WEFT_TOOL_SHM, shm_rendezvous_bytes,
          "bytes of messages so announced"),
    COUNTER("weft_shm_pieces_sent", WEFT_TOOL_SHM, shm_pieces,
            "pieces of long messages that were pushed, because their receiver could not read this "
            "process's memory or the data have holes"),
    COUNTER("weft_shm_backlogged", WEFT_TOOL_SHM, shm_backlogged,
            "messages and controls that found no room"),
    LEVEL("weft_shm_backlog", WEFT_TOOL_SHM, shm_backlog,
          "messages and controls that wait for room now"),
    HIGH("weft_shm_backlog_high", WEFT_TOOL_SHM, shm_backlog, "the most that waited at a time"),
    DERIVED("weft_shm_bytes", MPI_T_PVAR_CLASS_SIZE, WEFT_TOOL_SHM, WEFT_PVAR_SHM_BYTES,
            "the node's segment; what no message has touched takes no memory"),
    DERIVED("weft_shm_eager_limit", MPI_T_PVAR_CLASS_SIZE, WEFT_TOOL_SHM, WEFT_PVAR_SHM_EAGER_LIMIT,
            "longest message that is sent without waiting for its receive; 0: no shared memory"),

    ALL("weft_net_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, WEFT_TOOL_NET, bytes_sent[NET],
        "bytes of messages sent over the network"),
    ALL("weft_net_messages_received", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_NET, received[NET],
        "receives completed by messages from the network"),
    ALL("weft_net_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, WEFT_TOOL_NET, bytes_received[NET],
        "bytes that messages from the network brought"),
    ALL("weft_shm_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, WEFT_TOOL_SHM, bytes_sent[SHM],
        "bytes of messages sent through shared memory"),
    ALL("weft_shm_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, WEFT_TOOL_SHM, bytes_received[SHM],
        "bytes that receives got from it"),
    ALL("weft_self_messages_received", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_PROCESS, received[SELF],
        "receives completed by messages of this process"),
    ALL("weft_polls", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_PROCESS, polls,
        "times that the library looked for news"),
    ALL("weft_polls_with_news", MPI_T_PVAR_CLASS_COUNTER, WEFT_TOOL_PROCESS, news,
        "times that there were some"),
    ALL("weft_time_waiting", MPI_T_PVAR_CLASS_TIMER, WEFT_TOOL_PROCESS, waited,
        "seconds in which a waiting rank found nothing to do, those asleep included"),

    RANKS("weft_rank_messages_sent", MPI_T_PVAR_CLASS_COUNTER, WEFT_PVAR_RANK_SENT, false,
          "messages sent to the process of each rank of a communicator, on whatever communicator"),
    RANKS("weft_rank_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, WEFT_PVAR_RANK_BYTES_SENT, true,
          "the bytes of messages to each (WEFT_COUNTERS=all)"),
    RANKS("weft_rank_messages_received", MPI_T_PVAR_CLASS_COUNTER, WEFT_PVAR_RANK_RECEIVED, true,
          "receives that a message of each has completed (WEFT_COUNTERS=all)"),
    RANKS("weft_rank_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, WEFT_PVAR_RANK_BYTES_RECEIVED,
          true, "the bytes that they brought (WEFT_COUNTERS=all)"),
    RANKS("weft_rank_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, WEFT_PVAR_RANK_KEPT, true,
          "messages of each that were kept because no receive waited for them (WEFT_COUNTERS=all)"),
    RANKS("weft_rank_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER, WEFT_PVAR_RANK_RENDEZVOUS, false,
          "messages announced to each by an RTS"),
    RANKS("weft_rank_backlogged", MPI_T_PVAR_CLASS_COUNTER, WEFT_PVAR_RANK_BACKLOGGED, false,
          "messages and controls to each that had to wait"),
    RANKS("weft_rank_backlog", MPI_T_PVAR_CLASS_LEVEL, WEFT_PVAR_RANK_BACKLOG, false,
          "messages and controls to each that wait now"),
    RANKS("weft_rank_registrations", MPI_T_PVAR_CLASS_COUNTER, WEFT_PVAR_RANK_REGISTRATIONS, false,
          "registrations of memory for messages from and to each"),
};

const int weft_pvar_count = sizeof weft_pvar_table / sizeof weft_pvar_table[0];

MPI_Datatype weft_pvar_type(const struct weft_pvar_row *row)
{
    switch (row->class) {
    case MPI_T_PVAR_CLASS_STATE:
        return MPI_INT;
    case MPI_T_PVAR_CLASS_PERCENTAGE:
    case MPI_T_PVAR_CLASS_TIMER:
        return MPI_DOUBLE;
    default:
        return MPI_UNSIGNED_LONG_LONG;
    }
}

bool weft_pvar_sums(const struct weft_pvar_row *row)
{
    return row->class == MPI_T_PVAR_CLASS_COUNTER || row->class == MPI_T_PVAR_CLASS_AGGREGATE ||
           row->class == MPI_T_PVAR_CLASS_TIMER;
}

bool weft_pvar_resets(const struct weft_pvar_row *row)
{
    return weft_pvar_sums(row) || row->class == MPI_T_PVAR_CLASS_HIGHWATERMARK;
}

/* ---- Values */

static uint64_t word(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static uint64_t state(void)
{
    enum { STOPPED, RUNNING, IDLE };
    return !weft_is_running() ? STOPPED : weft_gate & WEFT_GATE_CLOSED ? IDLE : RUNNING;
}

static uint64_t fill(void)
{
    struct weft_net_levels net = weft_net_levels();
    return net.room ? net.posted * UINT64_C(1000000000) / net.room : 0;
}

static uint64_t in_flight(void)
{
    return word(&weft_counts.net_rendezvous) - word(&weft_counts.net_rendezvous_over);
}

/* Counted for each rank with WEFT_COUNTERS=all. */
static uint64_t of_rank(enum weft_pvar_source source, int world)
{
    const struct weft_count_rank *rank = weft_count_ranks ? &weft_count_ranks[world] : NULL;
    if (!rank)
        return 0;
    return source == WEFT_PVAR_RANK_BYTES_SENT       ? rank->bytes_sent
           : source == WEFT_PVAR_RANK_RECEIVED       ? rank->received
           : source == WEFT_PVAR_RANK_BYTES_RECEIVED ? rank->bytes_received
                                                     : rank->kept;
}

/* Of a rank that this one is in contact with. */
static uint64_t of_peer(enum weft_pvar_source source, int world)
{
    const struct weft_peer *peer = weft.peers ? weft_peer_known(world) : NULL;
    if (!peer)
        return 0;
    return source == WEFT_PVAR_RANK_SENT         ? weft_count_sent_to(peer)
           : source == WEFT_PVAR_RANK_RENDEZVOUS ? word(&peer->counts.rendezvous)
           : source == WEFT_PVAR_RANK_BACKLOGGED ? word(&peer->counts.backlogged)
           : source == WEFT_PVAR_RANK_BACKLOG    ? word(&peer->counts.backlog)
                                                 : word(&peer->counts.registrations);
}

uint64_t weft_pvar_raw(const struct weft_pvar_row *row, int world)
{
    switch (row->source) {
    case WEFT_PVAR_WORD:
        return word(row->word);
    case WEFT_PVAR_PEAK:
        return word(row->class == MPI_T_PVAR_CLASS_LEVEL ? &row->peak->now : &row->peak->most);
    case WEFT_PVAR_STATE:
        return state();
    case WEFT_PVAR_NET_SENT:
        return weft_count_sent(WEFT_LANE_NET);
    case WEFT_PVAR_SHM_SENT:
        return weft_count_sent(WEFT_LANE_SHM);
    case WEFT_PVAR_SHM_ARRIVED:
        return weft_count_shm_arrived();
    case WEFT_PVAR_NET_EAGER_LIMIT:
        return weft_net_levels().eager_limit;
    case WEFT_PVAR_SHM_EAGER_LIMIT:
        return weft_shm_eager_limit();
    case WEFT_PVAR_SHM_BYTES:
        return weft_shm_bytes();
    case WEFT_PVAR_NET_POSTED:
        return weft_net_levels().posted;
    case WEFT_PVAR_NET_COMPLETED:
        return word(&weft_counts.net_receives) + weft_net_levels().completed;
    case WEFT_PVAR_NET_FILL:
        return fill();
    case WEFT_PVAR_NET_IN_FLIGHT:
        return in_flight();
    case WEFT_PVAR_NET_FETCHING:
        return weft_count_fetching();
    case WEFT_PVAR_POSTED:
        return weft_cells_posted();
    case WEFT_PVAR_REQUEST_BYTES:
        return weft.requests.nslabs * WEFT_REQUEST_SLAB * sizeof(struct weft_request);
    case WEFT_PVAR_PEERS:
        return weft_count_peers();
    case WEFT_PVAR_RANK_BYTES_SENT:
    case WEFT_PVAR_RANK_RECEIVED:
    case WEFT_PVAR_RANK_BYTES_RECEIVED:
    case WEFT_PVAR_RANK_KEPT:
        return of_rank(row->source, world);
    default:
        return of_peer(row->source, world);
    }
}
