// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of performance variables and their values: see pvar.h.
 *
 * Invariant: reading a variable has no side effect, and reads only memory that stays valid while
 * MPI starts, runs and stops, or that weft_count_close takes over under the lock.
 */
#include "core/tool/pvar.h"

#include "core/tool/derived.h"
#include "core/message/foreign.h"
#include "core/message/process.h"
#include "core/message/lane_fast.h"
#include "gpu/gpu.h"

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* ---- Values that are derived when they are read */

#define VALUE(name, expression)                                                                    \
    static uint64_t name(void)                                                                     \
    {                                                                                              \
        return expression;                                                                         \
    }
enum { STOPPED, RUNNING, IDLE };
VALUE(state, !weft.running ? STOPPED : weft_entry_flags & WEFT_ENTRY_CLOSED ? IDLE : RUNNING)
VALUE(posted, weft_vcis_posted())
VALUE(net_sent, weft_count_sent(WEFT_LANE_NET))
VALUE(net_in_flight, load(&weft_counts.net_rendezvous) - load(&weft_counts.net_rendezvous_over))
VALUE(net_receives, load(&weft_counts.completed[WEFT_LANE_NET]) +
                        weft_count_lane_level(WEFT_LANE_NET, WEFT_LEVEL_COMPLETED))
VALUE(net_fetching, weft_count_fetching(WEFT_LANE_NET))
VALUE(net_posted, weft_count_lane_level(WEFT_LANE_NET, WEFT_LEVEL_POSTED))
VALUE(net_eager_limit, weft_count_lane_level(WEFT_LANE_NET, WEFT_LEVEL_EAGER_LIMIT))
VALUE(shm_sent, weft_count_sent(WEFT_LANE_SHM))
VALUE(shm_arrived, weft_count_arrived(WEFT_LANE_SHM))
VALUE(shm_bytes, weft_count_lane_level(WEFT_LANE_SHM, WEFT_LEVEL_BYTES))
VALUE(shm_eager_limit, weft_count_lane_level(WEFT_LANE_SHM, WEFT_LEVEL_EAGER_LIMIT))

static uint64_t request_bytes(void)
{
    uint64_t slabs = 0;
    for (unsigned i = 0; i < weft.nvcis; i++)
        slabs += weft.vcis[i].requests.nslabs;
    return slabs * WEFT_REQUEST_SLAB * sizeof(struct weft_request);
}

static uint64_t net_receive_queue(void)
{
    uint64_t space = weft_count_lane_level(WEFT_LANE_NET, WEFT_LEVEL_SPACE);
    return space ? net_posted() * UINT64_C(1000000000) / space : 0;
}

/* Counted for each rank of this job with WEFT_COUNTERS=all. */
#define RANK_VALUE(field)                                                                          \
    static uint64_t rank_##field(int world)                                                        \
    {                                                                                              \
        return weft_count_ranks && !weft_is_foreign(world) ? weft_count_ranks[world].field : 0;    \
    }
RANK_VALUE(bytes_sent)
RANK_VALUE(received)
RANK_VALUE(bytes_received)
RANK_VALUE(unexpected_messages)

/* Counted for each rank that this one is in contact with: the sum over the VCI numbers. */
#define PEER_VALUE(name, expression)                                                               \
    static uint64_t peer_##name(int world)                                                         \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (unsigned vci_number = 0; vci_number < weft.vci_numbers; vci_number++) {               \
            const struct weft_peer *peer = weft_peer_find(vci_number, world);                      \
            sum += peer ? expression : 0;                                                          \
        }                                                                                          \
        return sum;                                                                                \
    }
PEER_VALUE(messages_sent, weft_count_sent_to(peer))
PEER_VALUE(rendezvous, load(&peer->counts.rendezvous))
PEER_VALUE(backlogged, load(&peer->counts.backlogged))
PEER_VALUE(backlog, load(&peer->counts.backlog))
PEER_VALUE(registrations, load(&peer->counts.registrations))

/* ---- The table */

#define ROW(name, kind, group, text, ...)                                                          \
    {                                                                                              \
        name, MPI_T_PVAR_CLASS_##kind, WEFT_TOOL_##group, .help = text, __VA_ARGS__                \
    }
#define COUNT(name, kind, group, field, text)                                                      \
    ROW(name, kind, group, text, .word = &weft_counts.field)
#define ALL(name, kind, group, field, text)                                                        \
    ROW(name, kind, group, text " (WEFT_COUNTERS=all)", .all = true, .word = &weft_counts.field)
#define PEAK(name, kind, group, field, text)                                                       \
    ROW(name, kind, group, text, .peak = &weft_counts.field)
#define DERIVED(name, kind, group, function, text) ROW(name, kind, group, text, .value = function)
#define RANKS(name, kind, function, text)          ROW(name, kind, PROCESS, text, .of_rank = function)
#define RANKS_ALL(name, kind, function, text)                                                      \
    ROW(name, kind, PROCESS, text " (WEFT_COUNTERS=all)", .all = true, .of_rank = function)

const struct weft_pvar_row weft_pvar_table[] = {
    ROW("weft_state", STATE, PROCESS,
        "state of MPI in this process; idle: initialized, and all sessions are finalized",
        .value = state, .enumeration = weft_tool_enum_of_state),
    DERIVED("weft_peers", LEVEL, PROCESS, weft_count_peers,
            "other ranks that this rank is in contact with"),
    COUNT("weft_contacts", COUNTER, PROCESS, contacts, "first contacts with other ranks"),
    COUNT("weft_deaths", COUNTER, PROCESS, deaths, "ranks in contact that were reported dead"),
    COUNT("weft_yields", COUNTER, PROCESS, yields, "times that a waiting rank yielded its core"),
    COUNT("weft_sleeps", COUNTER, PROCESS, sleeps, "times that a waiting rank slept"),
    COUNT("weft_time_asleep", TIMER, PROCESS, asleep, "seconds that a waiting rank slept"),
    DERIVED("weft_request_bytes", LEVEL, PROCESS, request_bytes, "memory of the request pool"),
    COUNT("weft_collectives", COUNTER, COLLECTIVES, collectives,
          "collective operations started, including the library's own"),
    COUNT("weft_collectives_shared", COUNTER, COLLECTIVES, collectives_shared,
          "of these, blocking ones through memory that the ranks of a node share"),
    PEAK("weft_collectives_memory", LEVEL, COLLECTIVES, areas,
         "bytes of this memory, all communicators together"),
    ROW("weft_collective", STATE, COLLECTIVES,
        "algorithm of the last event weft_collective; auto: of a collective with one algorithm",
        .word = &weft_counts.algorithm, .enumeration = weft_tool_enum_of_algorithm),

    COUNT("weft_rma_direct", COUNTER, WINDOWS, rma_direct,
          "one-sided operations by loads, stores and atomics of this process, or copied by the "
          "kernel"),
    COUNT("weft_rma_by_net", COUNTER, WINDOWS, rma_by_net,
          "one-sided operations by fi_write and fi_read of the provider"),
    COUNT("weft_rma_by_messages", COUNTER, WINDOWS, rma_by_messages,
          "one-sided operations by messages to a handler at the target"),
    COUNT("weft_rma_packets_sent", COUNTER, WINDOWS, rma_packets,
          "messages of windows: operations, results, locks, acknowledgements"),
    COUNT("weft_rma_lock_waits", COUNTER, WINDOWS, rma_lock_waits,
          "locks of windows that were not free when this rank, or another from it, requested them"),

    COUNT("weft_file_opens", COUNTER, FILES, file_opens, "files opened"),
    COUNT("weft_file_calls", COUNTER, FILES, file_calls,
          "system calls that read or wrote a file, repeated ones included"),
    COUNT("weft_file_bytes_read", AGGREGATE, FILES, file_read,
          "bytes read from files, also between the data of a program"),
    COUNT("weft_file_bytes_written", AGGREGATE, FILES, file_written,
          "bytes written to files, also between the data of a program"),
    COUNT("weft_file_bytes_sieved", AGGREGATE, FILES, file_sieved,
          "bytes of the spans that independent accesses moved by one call for many records"),
    COUNT("weft_file_rounds", COUNTER, FILES, file_rounds,
          "rounds of collective accesses through file domains"),
    COUNT("weft_file_windows_merged", COUNTER, FILES, file_merged,
          "file domains that were read before they were written, because the data left holes"),

    COUNT("weft_self_messages_sent", COUNTER, PROCESS, messages[WEFT_LANE_SELF],
          "messages of this process to itself"),
    COUNT("weft_self_bytes_sent", AGGREGATE, PROCESS, self_bytes,
          "bytes of messages of this process to itself"),

    DERIVED("weft_posted_receives", LEVEL, MATCHING, posted,
            "receives in the posted queue of the software matcher"),
    COUNT("weft_unexpected_messages", COUNTER, MATCHING, unexpected_messages,
          "messages that entered the unexpected queue of the software matcher"),
    PEAK("weft_unexpected_queue", LEVEL, MATCHING, unexpected,
         "messages in the unexpected queue, without those inside a provider that matches"),
    PEAK("weft_unexpected_queue_high", HIGHWATERMARK, MATCHING, unexpected,
         "largest number of messages in the unexpected queue"),
    PEAK("weft_unexpected_bytes", LEVEL, MATCHING, unexpected_bytes,
         "memory used by the data of unexpected messages"),
    PEAK("weft_unexpected_bytes_high", HIGHWATERMARK, MATCHING, unexpected_bytes,
         "largest memory used by the data of unexpected messages"),

    DERIVED("weft_net_messages_sent", COUNTER, NET, net_sent,
            "messages sent over the network by any protocol, including those of collectives"),
    COUNT("weft_net_rendezvous_sent", COUNTER, NET, net_rendezvous,
          "messages announced over the network by an RTS"),
    COUNT("weft_net_rendezvous_bytes_sent", AGGREGATE, NET, net_rendezvous_bytes,
          "bytes of messages announced by an RTS"),
    DERIVED("weft_net_rendezvous_in_flight", LEVEL, NET, net_in_flight,
            "announced sends that have not completed"),
    DERIVED("weft_net_fetching", LEVEL, NET, net_fetching,
            "announced messages that have matched here and are being fetched"),
    COUNT("weft_net_credit_waits", COUNTER, NET, net_credit_waits,
          "short messages that were announced because this rank had no credits at the receiver "
          "(WEFT_EAGER_CREDITS)"),
    COUNT("weft_net_flow_checks", COUNTER, NET, net_flow_checks,
          "requests to peers to confirm that they have received what was sent"),
    COUNT("weft_net_dropped", COUNTER, NET, net_dropped,
          "control messages that were dropped because they named no operation of this rank"),
    COUNT("weft_net_backlogged", COUNTER, NET, backlogged[WEFT_LANE_NET],
          "messages and controls that waited before the provider accepted them"),
    PEAK("weft_net_backlog", LEVEL, NET, backlog[WEFT_LANE_NET],
         "messages and controls that wait now"),
    PEAK("weft_net_backlog_high", HIGHWATERMARK, NET, backlog[WEFT_LANE_NET],
         "largest number of messages and controls that waited"),
    COUNT("weft_net_controls_sent", COUNTER, NET, net_controls,
          "control messages (acknowledgements, ends of rendezvous, credits)"),
    DERIVED("weft_net_receives", COUNTER, NET, net_receives,
            "receives that the provider has matched or returned"),
    DERIVED("weft_net_posted_receives", LEVEL, NET, net_posted, "receives posted to the provider"),
    DERIVED("weft_net_receive_queue", PERCENTAGE, NET, net_receive_queue,
            "part of the provider's receive queue that they occupy"),
    COUNT("weft_net_registrations", COUNTER, NET, net_registrations, "memory registrations"),
    COUNT("weft_net_bounce_bytes", LEVEL, NET, net_bounce_bytes,
          "memory of bounce buffers, for data that are packed during the transfer"),
    DERIVED("weft_net_eager_limit", SIZE, NET, net_eager_limit,
            "longest message sent without waiting for its receive; 0: no network is open"),

    DERIVED("weft_shm_messages_sent", COUNTER, SHM, shm_sent,
            "messages sent through shared memory, including those of collectives"),
    DERIVED("weft_shm_messages_received", COUNTER, SHM, shm_arrived,
            "messages received through shared memory"),
    COUNT("weft_shm_rendezvous_sent", COUNTER, SHM, shm_rendezvous,
          "messages announced through shared memory by an RTS"),
    COUNT("weft_shm_rendezvous_bytes_sent", AGGREGATE, SHM, shm_rendezvous_bytes,
          "bytes of messages announced through shared memory"),
    COUNT("weft_pieces_sent", COUNTER, SHM, shm_pieces,
          "pieces of long messages that were pushed, because the receiver could not read this "
          "process's memory or the data are not contiguous"),
    COUNT("weft_shm_credit_waits", COUNTER, SHM, shm_credit_waits,
          "short messages that were announced because this rank had no credits at the receiver "
          "(WEFT_EAGER_CREDITS)"),
    COUNT("weft_shm_backlogged", COUNTER, SHM, backlogged[WEFT_LANE_SHM],
          "messages and controls that waited for space in a ring"),
    PEAK("weft_shm_backlog", LEVEL, SHM, backlog[WEFT_LANE_SHM],
         "messages and controls that wait for space now"),
    PEAK("weft_shm_backlog_high", HIGHWATERMARK, SHM, backlog[WEFT_LANE_SHM],
         "largest number of messages and controls that waited"),
    DERIVED("weft_shm_bytes", SIZE, SHM, shm_bytes,
            "size of the node's segment; pages that no message has used take no memory"),
    DERIVED("weft_shm_eager_limit", SIZE, SHM, shm_eager_limit,
            "longest message sent without waiting for its receive; 0: no shared memory"),

    ROW("weft_gpu_bytes_staged", AGGREGATE, PROCESS,
        "bytes copied by this rank between GPU memory and host memory",
        .word = &weft_gpu_counts.staged),
    ROW("weft_gpu_bytes_ipc", AGGREGATE, PROCESS,
        "bytes that this rank copied from GPU memory of other ranks of the node (CUDA IPC)",
        .word = &weft_gpu_counts.ipc),
    ROW("weft_gpu_bytes_direct", AGGREGATE, PROCESS,
        "bytes of messages that an adapter read from this rank's GPU memory, or wrote to it",
        .word = &weft_gpu_counts.direct),

    ALL("weft_net_bytes_sent", AGGREGATE, NET, bytes_sent[WEFT_LANE_NET],
        "bytes of messages sent over the network"),
    ALL("weft_net_messages_received", COUNTER, NET, received[WEFT_LANE_NET],
        "receives completed by messages from the network"),
    ALL("weft_net_bytes_received", AGGREGATE, NET, bytes_received[WEFT_LANE_NET],
        "bytes received from the network"),
    ALL("weft_shm_bytes_sent", AGGREGATE, SHM, bytes_sent[WEFT_LANE_SHM],
        "bytes of messages sent through shared memory"),
    ALL("weft_shm_bytes_received", AGGREGATE, SHM, bytes_received[WEFT_LANE_SHM],
        "bytes received through shared memory"),
    ALL("weft_self_messages_received", COUNTER, PROCESS, received[WEFT_LANE_SELF],
        "receives completed by messages of this process"),
    ALL("weft_polls", COUNTER, PROCESS, polls, "times that the library polled for events"),
    ALL("weft_polls_with_events", COUNTER, PROCESS, polls_with_events, "polls that found events"),
    ALL("weft_time_waiting", TIMER, PROCESS, waited,
        "seconds in which a waiting rank found no events, including those asleep"),

    RANKS("weft_rank_messages_sent", COUNTER, peer_messages_sent,
          "messages sent to the process of each rank of a communicator, on any communicator"),
    RANKS_ALL("weft_rank_bytes_sent", AGGREGATE, rank_bytes_sent,
              "bytes of messages sent to each rank"),
    RANKS_ALL("weft_rank_messages_received", COUNTER, rank_received,
              "receives completed by a message of each rank"),
    RANKS_ALL("weft_rank_bytes_received", AGGREGATE, rank_bytes_received,
              "bytes received from each rank"),
    RANKS_ALL("weft_rank_unexpected_messages", COUNTER, rank_unexpected_messages,
              "messages of each rank that entered the unexpected queue"),
    RANKS("weft_rank_rendezvous_sent", COUNTER, peer_rendezvous,
          "messages announced to each rank by an RTS"),
    RANKS("weft_rank_backlogged", COUNTER, peer_backlogged,
          "messages and controls to each rank that waited"),
    RANKS("weft_rank_backlog", LEVEL, peer_backlog,
          "messages and controls to each rank that wait now"),
    RANKS("weft_rank_registrations", COUNTER, peer_registrations,
          "memory registrations for messages from and to each rank"),
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

uint64_t weft_pvar_raw(const struct weft_pvar_row *row, int world)
{
    if (row->word)
        return load(row->word);
    if (row->peak)
        return load(row->class == MPI_T_PVAR_CLASS_LEVEL ? &row->peak->now : &row->peak->most);
    return row->value ? row->value() : row->of_rank(world);
}
