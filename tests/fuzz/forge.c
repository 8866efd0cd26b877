// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,rxm-push,rxm-unpaid,net-soft,sockets seconds=30
/*
 * Forged messages. The last rank is hostile: it sends control messages of every kind with wrong
 * fields to the other ranks, from its own endpoint, as a peer of the job, and from one that is in
 * no address vector, as a stranger. The other ranks exchange messages of every protocol meanwhile
 * and verify their data. The hostile rank never announces or synchronizes a message, so whatever
 * it sends about operations is refused.
 *
 * As a stranger it does not have the job's key; its messages are right in every other field. What
 * it sends as a peer in the name of another rank has one field that no rank sends: a perfect copy
 * with the job's key cannot be told from the message itself. So have its revocations of
 * communicators, because each member may revoke one.
 *
 * WEFT_TEST_FORGED: how many messages; WEFT_TEST_SEED repeats a run.
 */
#include "hostile.h"

enum { FORGED = 20000, BATCH = 200, USER_MESSAGES = 300, FIXED_SEED = 18, PATIENCE = 2 };
enum { UNUSED_TAG = 12345, LARGEST = 300000, PLACES = 4 };
enum { LONGEST = sizeof(struct weft_net_control) + sizeof(uint64_t) }; /* bytes of a message */

/* ---- The hostile rank */

static struct {
    struct weft_objects objects;      /* of the stranger */
    fi_addr_t addresses[VICTIMS_MAX]; /* of the victims in its address vector */
    int user_messages;
} forger;

/* A number that is near the limit of some check, or any. */
static uint64_t edge(void)
{
    static const uint64_t edges[] = {0,          1,         8,          255,
                                     256,        65535,     UINT32_MAX, UINT64_C(1) << 32,
                                     1ULL << 48, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    uint64_t choice = any(20);
    if (choice < sizeof edges / sizeof edges[0])
        return edges[choice];
    return choice < 18 ? any(2000) : any(0);
}

/* All is forged as a peer over psm2, where a process has one endpoint, and over providers that
 * inject too little: the stranger does not wait for completions. */
static void become_stranger(void)
{
    char why[512], address[256];
    if (weft_net.inject_max < LONGEST)
        return;
    int rc = weft_objects_open(&forger.objects, &weft_net.choice, check.size, 1, why, sizeof why);
    CHECK(!rc || weft_net.choice.row->flags & WEFT_PROVIDER_ONE_ENDPOINT,
          "the stranger has no endpoint: %s", why);
    for (int rank = 0; rank < hostile.rank && !rc; rank++) {
        victim_address(rank, address, sizeof address);
        rc = fi_av_insert(forger.objects.av, address, 1, &forger.addresses[rank], 0, NULL) != 1;
        CHECK(!rc, "the stranger cannot reach rank %d", rank);
    }
}

static void progress(void)
{
    struct fi_cq_tagged_entry entries[8];
    struct fi_cq_err_entry error = {0};
    weft_progress();
    if (forger.objects.cq && fi_cq_read(forger.objects.cq, entries, 8) == -FI_EAVAIL)
        fi_cq_readerr(forger.objects.cq, &error, 0);
}

/* Sends bytes as they are, as this rank or as a stranger. */
static void send_raw(int to, bool as_stranger, const void *data, size_t bytes, uint64_t cq_data,
                     uint64_t word)
{
    ssize_t rc;
    while ((rc = as_stranger ? fi_tinjectdata(forger.objects.ep, data, bytes, cq_data,
                                              forger.addresses[to], word)
                             : weft_net_send_own(weft_peer_get(0, to), data, bytes, cq_data, word,
                                                 false)) == -FI_EAGAIN)
        progress();
    CHECK(!rc, "a message to rank %d could not be sent: %s", to, fi_strerror((int)-rc));
}

/* What a stranger's guess of the job's key differs by. It never turns one rank into another. */
static uint32_t wrong_key(void)
{
    return UINT32_C(1) << 23 | (uint32_t)any(1 << 23);
}

/* Gives a control message one field that no rank sends; some change its length. */
static void spoil(struct weft_net_control *control, size_t *bytes)
{
    switch (any(6)) {
    case 0:
        control->version = (uint8_t)(control->version + 1 + any(255));
        return;
    case 1:
        control->vci_number = (uint8_t)(1 + any(255));
        return;
    case 2:
        control->kind = (uint8_t)(WEFT_NET_RAIL + 1 + any(255 - WEFT_NET_RAIL));
        return;
    case 3:
        control->count = (uint8_t)(WEFT_FINS_AT_ONCE + 1 + any(200));
        return;
    case 4:
        control->from = any(2) ? check.size + (int)any(1000) : -1 - (int)any(1000);
        return;
    default:
        *bytes = any(sizeof *control);
    }
}

/* A kind about an operation of the receiver, of which this rank has none. */
static bool is_about_operation(enum weft_net_control_kind kind)
{
    return kind != WEFT_NET_CANCEL && kind != WEFT_NET_CREDITS && kind != WEFT_NET_FLOW_CHECK &&
           kind != WEFT_NET_FLOW_CHECKED && kind != WEFT_NET_CONNECTED;
}

static void forge_control(int to)
{
    struct {
        struct weft_net_control control;
        uint64_t data;
    } message = {.control = {.version = WEFT_NET_WIRE_VERSION,
                             .kind = (uint8_t)any(WEFT_NET_RAIL + 1),
                             .count = (uint8_t)any(3),
                             .from = check.rank,
                             .context = (uint32_t)edge(),
                             .tag = (int32_t)edge(),
                             .number = edge(),
                             .other = edge(),
                             .length = edge(),
                             .address = edge(),
                             .key = edge()},
                 .data = any(0)};
    struct weft_net_control *control = &message.control;
    size_t bytes = sizeof *control + (control->kind == WEFT_NET_DATA ? sizeof message.data : 0);
    bool as_stranger = any(2) && forger.objects.ep,
         certain = is_about_operation((enum weft_net_control_kind)control->kind);
    if (any(2))
        control->from =
            (int)any((uint64_t)hostile.rank); /* some victim, perhaps the receiver itself */
    if (!as_stranger &&
        (control->from != check.rank || control->kind == WEFT_NET_REVOKE || any(4) == 0)) {
        spoil(control, &bytes);
        certain = true;
    }
    control->from = (int32_t)(weft_net_mark(control->from) ^ (as_stranger ? wrong_key() : 0));
    hostile.certain[to] += certain && !as_stranger;
    send_raw(to, as_stranger, &message, bytes, (uint32_t)any(0), weft_net.space_bit);
}

/* A user message with an impossible source, for a receive that does not exist, or for a context
 * that is not open. With software matching its sequence number is impossible too, but that of a
 * stranger is the next one: it must not be used up. */
static void forge_user_message(int to)
{
    char data[48];
    uint64_t word = (any(4) << weft_net.form_shift) |
                    (any(2) ? weft_net_fast_channel(&weft_comm_world.p2p)->word : 0) | UNUSED_TAG |
                    (any(2) ? any(1000) << (weft_net.context_shift + 8) : 0);
    uint64_t source = any(2) ? (uint64_t)check.size + any(1 << 20) : UINT32_MAX - any(5);
    struct weft_peer *peer = weft_peer_get(0, to);
    uint32_t number = peer->sequence + (1 << 20) + (uint32_t)any(1 << 20);
    uint32_t claimed = weft_net_mark((int)source);
    memset(data, (int)any(256), sizeof data);
    bool as_stranger = any(2) && forger.objects.ep;
    if (as_stranger) {
        number = peer->sequence;
        claimed = weft_net_mark(check.rank) ^ wrong_key();
        word = weft_net_fast_channel(&weft_comm_world.p2p)->word | UNUSED_TAG;
    }
    if (!as_stranger && weft_net.software && weft_net.sequence_mask != UINT32_MAX)
        return;
    hostile.certain[to] += weft_net.software && !as_stranger;
    uint64_t cq_data = (uint64_t)claimed << weft_net.rank_shift | weft_net_number_bits(number);
    if (!weft_net.sequence_shift)
        cq_data = (uint32_t)cq_data; /* some providers have four bytes */
    send_raw(to, as_stranger, data, any(sizeof data), cq_data, word);
}

static void attack(long messages)
{
    long sent = 0;
    while (sent < messages) {
        int batch = messages - sent < BATCH ? (int)(messages - sent) : BATCH;
        check_step("forging messages from %ld on", sent);
        for (int i = 0; i < batch; i++) {
            int to = (int)any((uint64_t)hostile.rank);
            if (forger.user_messages < USER_MESSAGES && any(50) == 0) {
                forger.user_messages++;
                forge_user_message(to);
            } else {
                forge_control(to);
            }
        }
        sent += batch;
        hostile_tick(sent >= messages);
    }
}

/* ---- The other ranks */

static unsigned char out[PLACES][LARGEST], in[PLACES][LARGEST];
static MPI_Datatype strided; /* the first half of each 8 bytes */

/* One message of a round, alike on all victims. */
struct plan {
    int bytes;
    bool strided, any_source, synchronous;
};

static void verify(const struct plan *plan, int from, int place, int round)
{
    if (!plan->strided) {
        CHECK_DATA(in[place], plan->bytes, from, place, round);
        return;
    }
    static unsigned char expected[LARGEST];
    int wrong = 0;
    check_fill(expected, LARGEST, from, place, round);
    for (int at = 0; at < LARGEST; at++)
        wrong += in[place][at] != (at % 8 < 4 ? expected[at] : 0);
    CHECK(!wrong, "strided message %d of rank %d: %d bytes are wrong", round, from, wrong);
}

/* Exchanges messages of every size, mode and layout with other victims. */
static void exchange(int round, uint64_t *seed)
{
    static const int sizes[] = {0, 8, 64, 65, 3000, 20000, 100000, LARGEST};
    MPI_Request requests[2 * PLACES];
    struct plan plans[PLACES];
    int rank, size;
    MPI_Comm_rank(hostile.victims, &rank);
    MPI_Comm_size(hostile.victims, &size);
    int step = 1 + round % (size - 1), to = (rank + step) % size,
        from = (rank + size - step) % size;
    for (int i = 0; i < PLACES; i++) {
        int bytes = sizes[check_random(seed, 8)];
        struct plan *plan = &plans[i];
        *plan = (struct plan){bytes, bytes == LARGEST && check_random(seed, 2),
                              check_random(seed, 2), check_random(seed, 2)};
        int count = plan->strided ? 1 : bytes;
        MPI_Datatype type = plan->strided ? strided : MPI_BYTE;
        check_fill(out[i], (size_t)bytes, rank, i, round);
        memset(in[i], 0, (size_t)bytes);
        MPI_Irecv(in[i], count, type, plan->any_source ? MPI_ANY_SOURCE : from, DATA + i,
                  hostile.victims, &requests[i]);
        (plan->synchronous ? MPI_Issend : MPI_Isend)(out[i], count, type, to, DATA + i,
                                                     hostile.victims, &requests[PLACES + i]);
    }
    MPI_Waitall(2 * PLACES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PLACES; i++)
        verify(&plans[i], from, i, round);
}

/* ---- A receive from any source */

/* A forged message with the tag of a posted receive: the receive gets the right message, or fails
 * if the provider has matched it. */
static void deceive_a_receive(void)
{
    MPI_Comm comm;
    int value = 4711, code;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (check.rank == 0) {
        MPI_Request request;
        int got = 0;
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TICK, comm, &request);
        MPI_Send(NULL, 0, MPI_BYTE, hostile.rank, TOCK, comm);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            CHECK_CLASS(code, MPI_ERR_OTHER);
            CHECK(!weft_net.software, "a forged message was matched in software");
            code = MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TICK, comm, MPI_STATUS_IGNORE);
        }
        CHECK(code == MPI_SUCCESS && got == value, "received %d, code %d", got, code);
    } else if (check.rank == hostile.rank) {
        const struct weft_channel *channel = &weft_comm_resolve(comm)->p2p;
        struct weft_peer *peer = weft_peer_get(channel->vci_number, 0);
        static const int forged = 666;
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TOCK, comm, MPI_STATUS_IGNORE);
        send_raw(0, false, &forged, sizeof forged,
                 (uint64_t)weft_net_mark(check.size + 3) << weft_net.rank_shift |
                     weft_net_number_bits(peer->sequence),
                 weft_net_fast_channel(channel)->word | TICK);
        MPI_Send(&value, 1, MPI_INT, 0, TICK, comm);
    }
    MPI_Comm_free(&comm);
}

/* Gives a forged message the time to arrive: until the receive has failed or a message was dropped.
 * Over some providers it never arrives. Returns the code of the receive. */
static int await_forged(MPI_Request *request)
{
    uint64_t dropped = weft_counts.net_dropped;
    double end = weft_seconds() + PATIENCE;
    int ended = 0, code = MPI_SUCCESS;
    while (!ended && weft_counts.net_dropped == dropped && weft_seconds() < end)
        code = MPI_Test(request, &ended, MPI_STATUS_IGNORE);
    CHECK(!ended || code != MPI_SUCCESS, "a stranger's message completed a receive");
    return code;
}

/* As a stranger, who knows everything of the next message of rank 1 but the job's key: rank 0 gets
 * that message, not the forged one. */
static void deceive_as_stranger(void)
{
    enum { VICTIM = 1 };
    MPI_Comm comm;
    int value = 4711, got = 0;
    uint32_t next;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const struct weft_channel *channel = &weft_comm_resolve(comm)->p2p;
    unsigned vci_number = channel->vci_number;
    MPI_Barrier(comm);
    if (check.rank == 0) {
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TICK, comm, &request);
        MPI_Send(NULL, 0, MPI_BYTE, VICTIM, TOCK, comm);
        int code = await_forged(&request);
        MPI_Send(NULL, 0, MPI_BYTE, VICTIM, TOCK, comm);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            CHECK_CLASS(code, MPI_ERR_OTHER);
            CHECK(!weft_net.software, "a forged message was matched in software");
            code = MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TICK, comm, MPI_STATUS_IGNORE);
        }
        CHECK(code == MPI_SUCCESS && got == value, "received %d, code %d", got, code);
    } else if (check.rank == VICTIM) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TOCK, comm, MPI_STATUS_IGNORE);
        next = weft_peer_get(vci_number, 0)->sequence;
        MPI_Send(&next, 1, MPI_UINT32_T, hostile.rank, TICK, comm);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TOCK, comm, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, TICK, comm);
    } else if (check.rank == hostile.rank) {
        static const int forged = 666;
        uint64_t senders = ((UINT64_C(1) << weft_net.sender_bits) - 1) << weft_net.sender_shift;
        uint64_t victim = (uint64_t)weft_net_sender_number(vci_number, VICTIM)
                          << weft_net.sender_shift;
        MPI_Recv(&next, 1, MPI_UINT32_T, VICTIM, TICK, comm, MPI_STATUS_IGNORE);
        uint64_t claimed = weft_net_mark(VICTIM) ^ wrong_key();
        if (forger.objects.ep)
            send_raw(0, true, &forged, sizeof forged,
                     claimed << weft_net.rank_shift | weft_net_number_bits(next),
                     (weft_net_fast_channel(channel)->word & ~senders) | (victim & senders) | TICK);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 3);
    long messages = check_setting("WEFT_TEST_FORGED", FORGED);
    hostile_begin(check_setting("WEFT_TEST_SEED", FIXED_SEED));
    if (check.rank == hostile.rank) {
        become_stranger();
        attack(messages);
    } else {
        MPI_Type_vector(LARGEST / 8, 4, 8, MPI_BYTE, &strided);
        MPI_Type_commit(&strided);
        endure(exchange);
        MPI_Type_free(&strided);
        MPI_Comm_free(&hostile.victims);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    count_dropped(messages, "messages");
    deceive_a_receive();
    deceive_as_stranger();
    if (check.rank == hostile.rank)
        for (int i = 0; i < BATCH; i++) /* while the others finalize */
            forge_control((int)any((uint64_t)hostile.rank));
    weft_objects_close(&forger.objects);
    return check_done();
}
