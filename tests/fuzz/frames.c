// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=net-soft,rxm,rxm-soft,sockets seconds=60
/*
 * Frames of the provider's own protocol, from a stranger and in the name of a connected rank: the
 * last rank connects to the ports of the others by plain sockets, and sends requests for
 * connections, operations, flags and lengths of every kind, each connection at most FRAMES of them.
 * The first ones are those that libfabric completes as an operation of nobody: a write of no bytes
 * with CQ data. The other ranks exchange messages meanwhile, verify them, and have to drop those
 * completions.
 *
 * The formats are those of libfabric 1.17 to 2.1: net and tcp (version 3), ofi_rxm above tcp,
 * sockets (version 2). Frames that crash or corrupt libfabric itself are left out; SECURITY.md
 * names them:
 *
 *  - net, tcp: an acknowledgement where no operation waits for one; data of a connection request
 *    that are shorter than their format; a request in the name of a connected rank, after which
 *    the two ranks may never connect again; a message with iovecs that is to be committed to
 *    persistent memory; since 1.18 also frames of its rendezvous, and wrong lengths and requests
 *    to read that have data, after which data are read as frames
 *  - tcp below ofi_rxm: a frame of the operation that is tagged, and a frame shorter or longer than
 *    the packet in it; a write with CQ data that has data, too: if they have not come when its
 *    connection is replaced or closed, and since 1.18 if its iovecs are shorter, tcp reports an
 *    error with the context NULL, which ofi_rxm reads (rxm_handle_comp_error)
 *  - ofi_rxm: packets about an operation that does not exist (rendezvous, the reply to an atomic
 *    operation), of a connection that does not exist, of a segmented message, an atomic operation,
 *    which is answered over its connection also after that has ended
 *  - sockets: replies, atomic operations, more iovecs than 8, other versions and operations
 *
 * WEFT_TEST_FORGED: how many frames; WEFT_TEST_SEED repeats a run.
 */
#include "hostile.h"

#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FORGED = 4000, FRAMES = 64, FIXED_SEED = 28, BATCH = 10, PATIENCE_MS = 3000 };
enum { LONGEST = 100000, LONGEST_FRAME = 4096, WASTED_MAX = 32, CUT_MAX = 32, KEPT_MAX = 500 };
enum {
    NOBODY = -1,
    REPETITIONS = 40,
    TAKEOVERS = 10,
    QUIET_TURNS = 5,
    QUIET_US = 20000,
    REPLY = 2
};

enum protocol { NET, RXM, SOCKETS };
static enum protocol protocol;

/* ---- The formats */

/* The request for a connection: net, and tcp below ofi_rxm. */
struct request {
    uint8_t version, type;
    uint16_t data_bytes; /* big-endian */
    uint32_t segment;
    uint64_t connection, message, same_endian;
    union {
        struct {
            uint8_t version, reserved;
            uint16_t port; /* big-endian */
            uint32_t pid;
        } net;
        struct {
            uint8_t version, endianness, control_version, op_version;
            uint16_t port;
            uint8_t flow_control, pad;
            uint32_t eager_limit, receives;
            uint64_t id;
        } rxm;
        char data[256];
    };
};
enum { REQUEST_HEADER = 32, ACCEPTED = 1 };

/* A frame of net or tcp: CQ data, tag and the iovecs of a transfer follow, each if it is there. */
struct frame {
    uint8_t version, op;
    uint16_t flags;
    uint8_t op_data, iovecs, header_bytes, id;
    uint64_t bytes; /* with the header */
};
enum { OP_MSG, OP_TAGGED, OP_READ, OP_READ_REPLY, OP_WRITE, OP_TAGGED_RTS, OP_CTS, OP_DATA };
enum { CQ_DATA = 1, DELIVERY = 4, COMMIT = 8, TAGGED = 128, IS_ACK = 2, HEADER_MAX = 120 };

/* A packet of ofi_rxm, the data of a frame. */
struct packet {
    uint8_t version, type;
    uint16_t segment_bytes;
    uint32_t segment;
    uint64_t connection, message, control_data;
    uint8_t op_version, rx_index, op, op_data;
    uint32_t flags;
    uint64_t size, data;
    uint64_t tag;
};
enum { RXM_EAGER = 0, RXM_CREDIT = 6, RXM_TYPES = 9 };

/* A frame of sockets, big-endian. */
struct sockets_frame {
    uint8_t version, op, rx_id, iovecs;
    uint16_t entry;
    uint8_t reserved[2];
    uint64_t flags, bytes;
};
enum { SOCKETS_VERSION = 2, S_SEND = 0, S_TSEND = 1, S_WRITE = 3, S_READ = 6, S_CONNECTION = 12 };
enum { S_ADDRESS_BYTES = 48 };

_Static_assert(offsetof(struct request, net) == REQUEST_HEADER, "request for a connection");
_Static_assert(sizeof(struct frame) == 16 && sizeof(struct packet) == 64, "frames");
_Static_assert(sizeof(struct sockets_frame) == 24, "frame of sockets");

/* ---- The stranger */

static struct {
    struct sockaddr_storage ports[VICTIMS_MAX]; /* of the victims */
    uint32_t pid;                               /* each connection is one of another process */
    int as;              /* the rank in whose name the stranger connects, or NOBODY */
    uint16_t port;       /* of nobody: below 1024, where no rank listens */
    uint64_t connection; /* ofi_rxm: the victim's number for it */
    bool since_1_18;     /* libfabric has another tcp than 1.17 */
    int kept;        /* messages that no receive of the victims matches, which libfabric keeps */
    int wasted, cut; /* packets that cost the victims a receive buffer each, two kinds */
    long refused;    /* connections that no answer came for */
} stranger;

static struct {
    unsigned char bytes[FRAMES * LONGEST_FRAME];
    size_t length;
} out;

static void append(const void *data, size_t bytes)
{
    if (data)
        memcpy(out.bytes + out.length, data, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            out.bytes[out.length + i] = (unsigned char)any(256);
    out.length += bytes;
}

/* Receives so many bytes. False if the connection ends or nothing comes. */
static bool receive(int fd, void *data, size_t bytes)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (size_t got = 0; got < bytes;) {
        ssize_t n = poll(&ready, 1, PATIENCE_MS) > 0
                        ? recv(fd, (char *)data + got, bytes - got, MSG_DONTWAIT)
                        : 0;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static struct request request_of(void)
{
    struct request request = {.version = 3, .same_endian = 1};
    stranger.port = (uint16_t)(1 + stranger.port % 1000);
    uint16_t port = stranger.port;
    if (stranger.as != NOBODY)
        port = ntohs(((struct sockaddr_in *)&stranger.ports[stranger.as])->sin_port);
    if (protocol == RXM) {
        const char *limit = getenv("FI_OFI_RXM_EAGER_LIMIT");
        if (!limit)
            limit = getenv("FI_OFI_RXM_BUFFER_SIZE");
        request.data_bytes = htons(sizeof request.rxm);
        request.rxm.version = 1;
        request.rxm.endianness = 1 + (__BYTE_ORDER == __LITTLE_ENDIAN);
        request.rxm.control_version = 4;
        request.rxm.op_version = 3;
        request.rxm.port = port;
        request.rxm.eager_limit = (uint32_t)atoi(limit ? limit : "16384");
        request.rxm.id = (uint64_t)++stranger.pid << 32;
    } else {
        request.data_bytes = htons(sizeof request.net);
        request.net.port = htons(port);
        request.net.pid = htonl(++stranger.pid);
    }
    return request;
}

/* A request that is wrong in one field: no connection comes of it. */
static void forge_request(int fd)
{
    struct request request = request_of();
    size_t bytes = REQUEST_HEADER + ntohs(request.data_bytes);
    switch (any(4)) {
    case 0:
        request.version = (uint8_t)(4 + any(250));
        break;
    case 1:
        request.type = (uint8_t)(1 + any(255));
        break;
    case 2:
        bytes = any(bytes);
        break;
    default:
        request.data_bytes = htons((uint16_t)(257 + any(60000)));
        bytes = sizeof request;
    }
    send(fd, &request, bytes, MSG_NOSIGNAL);
}

/* The handshake of a connection. False if the victim refused it. */
static bool greet(int fd)
{
    struct request request = request_of(), reply;
    if (protocol == SOCKETS)
        return true;
    size_t bytes = REQUEST_HEADER + ntohs(request.data_bytes);
    if (send(fd, &request, bytes, MSG_NOSIGNAL) != (ssize_t)bytes ||
        !receive(fd, &reply, REQUEST_HEADER))
        return false;
    size_t more = ntohs(reply.data_bytes);
    if (more > sizeof reply.data || !receive(fd, reply.data, more))
        return false;
    memcpy(&stranger.connection, reply.data, sizeof stranger.connection);
    return reply.type == ACCEPTED;
}

/* ---- Frames of net and tcp */

static void append_frame(struct frame frame, const void *data, size_t bytes)
{
    size_t header = sizeof frame + (frame.flags & CQ_DATA ? 8 : 0) +
                    (frame.op == OP_TAGGED ? 8 : 0) + 24 * (size_t)frame.iovecs;
    frame.version = 3;
    frame.header_bytes = (uint8_t)header;
    frame.bytes = header + bytes;
    append(&frame, sizeof frame);
    append(NULL, header - sizeof frame);
    append(data, bytes);
}

/* Completes at the victim as a write that nobody posted. */
static void append_write_of_nothing(int to)
{
    append_frame((struct frame){.op = OP_WRITE, .flags = CQ_DATA}, NULL, 0);
    hostile.certain[to]++;
}

static bool is_left_out(const struct frame *frame, size_t bytes)
{
    if ((frame->op == OP_MSG && frame->op_data == IS_ACK) ||
        (frame->flags & COMMIT && frame->iovecs))
        return true;
    if (protocol == RXM && (frame->op <= OP_TAGGED || frame->flags & TAGGED))
        return true;
    bool only_header = frame->bytes == frame->header_bytes;
    if (protocol == RXM && frame->op == OP_WRITE && frame->flags & CQ_DATA && !only_header)
        return true;
    if (!stranger.since_1_18)
        return false;
    return (frame->op >= OP_TAGGED_RTS && frame->op <= OP_DATA) || frame->bytes != bytes ||
           frame->header_bytes < sizeof *frame || frame->header_bytes > frame->bytes ||
           (frame->op == OP_READ && !only_header);
}

/* A frame with random fields; one or none of them is of no frame. */
static struct frame make_frame(size_t at)
{
    static const uint16_t flags[] = {0, CQ_DATA, DELIVERY, COMMIT, TAGGED};
    struct frame frame = {.op = (uint8_t)(any(8) ? any(OP_WRITE + 1) : any(256)),
                          .op_data = (uint8_t)(any(4) ? 0 : any(256)),
                          .iovecs = (uint8_t)(any(2) ? 0 : any(5))};
    for (int i = 0; i < 3; i++)
        frame.flags |= any(16) ? flags[any(5)] : (uint16_t)any(0);
    out.length = at;
    append_frame(frame, NULL, any(2) ? any(64) : any(2000));
    memcpy(&frame, out.bytes + at, sizeof frame);
    switch (any(12)) {
    case 0:
        frame.version = (uint8_t)any(256);
        break;
    case 1:
        frame.header_bytes = (uint8_t)(16 + any(HEADER_MAX - 16 + 1));
        break;
    case 2:
        frame.header_bytes = (uint8_t)any(256);
        break;
    case 3:
        frame.bytes = any(2) ? any(64) : any(0);
        break;
    case 4:
        frame.iovecs = (uint8_t)any(256);
        break;
    default:
        break;
    }
    return frame;
}

/* A short message of which the connection ends: no receive matches it while all are taken, and for
 * some tags never. */
static void append_cut_message(void)
{
    struct frame frame;
    size_t at = out.length;
    append_frame((struct frame){.op = OP_TAGGED}, NULL, any(64));
    memcpy(&frame, out.bytes + at, sizeof frame);
    frame.bytes += 1 + any(64);
    memcpy(out.bytes + at, &frame, sizeof frame);
}

/* A message whose header ends before its CQ data and its tag: libfabric takes what is missing, its
 * length too, from an earlier message, which had the job's key. Below ofi_rxm it is tagged by a
 * flag, and has no packet of ofi_rxm. */
static void append_short_header(void)
{
    size_t header = stranger.since_1_18 ? 16 + any(16) : any(32), data = any(64);
    struct frame frame = {.version = 3,
                          .op = protocol == RXM ? OP_MSG : OP_TAGGED,
                          .flags = protocol == RXM ? CQ_DATA | TAGGED : CQ_DATA,
                          .header_bytes = (uint8_t)header,
                          .bytes = header + data};
    append(&frame, sizeof frame);
    append(NULL, data + (header > sizeof frame ? header - sizeof frame : 0));
}

static void append_any_frame(void)
{
    struct frame frame;
    size_t at = out.length;
    do
        frame = make_frame(at);
    while (is_left_out(&frame, out.length - at));
    memcpy(out.bytes + at, &frame, sizeof frame);
}

/* ---- Packets of ofi_rxm */

static void append_packet(void)
{
    char data[sizeof(struct packet) + 256];
    struct packet packet = {.version = 4,
                            .type = RXM_EAGER,
                            .op_version = 3,
                            .connection = stranger.connection,
                            .message = any(0),
                            .control_data = any(0),
                            .op_data = (uint8_t)any(256),
                            .data = any(0)};
    size_t bytes = any(sizeof data - sizeof packet);
    uint64_t choice = any(4);
    if (choice > 1 && ++stranger.wasted > WASTED_MAX)
        choice = any(2);
    if (choice == 0 && ++stranger.kept > KEPT_MAX)
        choice = 1;
    switch (choice) {
    case 0: /* a message, for a tag of the world communicator or any */
        packet.op = OP_TAGGED;
        packet.flags = any(2) ? 1u << 17 : 0;
        packet.tag =
            any(2) ? any(0) : weft_net_fast_channel(&weft_comm_world.p2p)->word | any(1000);
        break;
    case 1:
        packet.type = RXM_CREDIT;
        break;
    case 2: /* an op that messages do not have */
        packet.op = (uint8_t)(2 + any(254));
        break;
    default:
        packet.type = (uint8_t)(RXM_TYPES + any(256 - RXM_TYPES));
    }
    packet.size = bytes;
    memcpy(data, &packet, sizeof packet);
    for (size_t i = 0; i < bytes; i++)
        data[sizeof packet + i] = (char)any(256);
    append_frame((struct frame){.op = OP_MSG}, data, sizeof packet + bytes);
}

/* A packet of which the connection ends. */
static void append_cut_packet(void)
{
    struct frame frame;
    struct packet packet;
    size_t at = out.length, missing = 1 + any(64);
    append_packet();
    memcpy(&frame, out.bytes + at, sizeof frame);
    memcpy(&packet, out.bytes + at + sizeof frame, sizeof packet);
    frame.bytes += missing;
    packet.size += missing;
    memcpy(out.bytes + at, &frame, sizeof frame);
    memcpy(out.bytes + at + sizeof frame, &packet, sizeof packet);
}

/* ---- Frames of sockets */

static void append_sockets_frame(void)
{
    static const uint8_t ops[] = {S_SEND, S_TSEND, S_WRITE, S_READ};
    struct sockets_frame frame = {
        .version = SOCKETS_VERSION, .op = ops[any(sizeof ops)], .entry = htons((uint16_t)any(128))};
    if (frame.op == S_SEND && ++stranger.kept > KEPT_MAX)
        frame.op = S_TSEND;
    bool cq_data = any(2), of_nothing = any(2);
    if ((frame.op == S_WRITE || frame.op == S_READ) && !of_nothing)
        frame.iovecs = (uint8_t)any(9);
    if (frame.op == S_READ)
        cq_data = false;
    frame.flags = htobe64(cq_data ? FI_REMOTE_CQ_DATA : 0);
    size_t more = (cq_data ? 8 : 0) + (frame.op == S_TSEND ? 8 : 0) + 24 * (size_t)frame.iovecs;
    if (frame.op <= S_TSEND || frame.iovecs)
        more += any(200);
    frame.bytes = htobe64(sizeof frame + more);
    append(&frame, sizeof frame);
    append(NULL, more);
}

/* Makes the connection that of another rank. */
static void append_sockets_connection(void)
{
    struct sockets_frame frame = {.version = SOCKETS_VERSION, .op = S_CONNECTION};
    frame.bytes = htobe64(sizeof frame + S_ADDRESS_BYTES);
    append(&frame, sizeof frame);
    append(&stranger.ports[stranger.as], S_ADDRESS_BYTES);
}

/* ---- The attack */

/* Sends what was appended, and waits until the victim has read it or has closed the connection. */
static void deliver(int fd)
{
    static char replies[4096];
    struct pollfd ready = {.fd = fd, .events = POLLOUT | POLLIN};
    size_t sent = 0;
    while (sent < out.length && poll(&ready, 1, PATIENCE_MS) > 0) {
        ssize_t n = send(fd, out.bytes + sent, out.length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            sent += (size_t)n;
        else if (ready.revents & (POLLERR | POLLHUP))
            break;
        while (recv(fd, replies, sizeof replies, MSG_DONTWAIT) > 0)
            ;
    }
    shutdown(fd, SHUT_WR);
    ready.events = POLLIN; /* until the victim closes it, or answers nothing */
    while (poll(&ready, 1, 20) > 0 && recv(fd, replies, sizeof replies, MSG_DONTWAIT) > 0)
        ;
}

/* One connection with so many frames, the first of them the write of nothing. */
static void connect_and_forge(int to, int frames)
{
    int fd = socket(stranger.ports[to].ss_family, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&stranger.ports[to], sizeof(struct sockaddr_in)))
        stranger.refused++;
    else if (protocol != SOCKETS && any(8) == 0)
        forge_request(fd);
    else if (!greet(fd))
        stranger.refused++;
    else {
        out.length = 0;
        if (protocol == SOCKETS && stranger.as != NOBODY)
            append_sockets_connection();
        for (int i = 0; i < frames; i++)
            if (protocol == SOCKETS)
                append_sockets_frame();
            else if (i == 0)
                append_write_of_nothing(to);
            else if (protocol == NET && i == frames - 1 && any(2))
                append_cut_message();
            else if (protocol == RXM && i == frames - 1 && any(4) == 0 && ++stranger.cut <= CUT_MAX)
                append_cut_packet();
            else if (protocol == NET && any(4) == 0)
                append_short_header();
            else if (protocol == RXM && any(16))
                append_packet();
            else
                append_any_frame();
        deliver(fd);
    }
    close(fd);
}

static void attack(long frames)
{
    long sent = 0;
    while (sent < frames) {
        check_step("sending frames from %ld on", sent);
        for (int i = 0; i < BATCH && sent < frames; i++) {
            int now = 1 + (int)any(protocol == NET ? FRAMES / 8 : FRAMES);
            connect_and_forge((int)any((uint64_t)hostile.rank), now);
            sent += now;
        }
        hostile_tick(sent >= frames);
    }
}

/* Copies of messages that the victims have exchanged, while they have posted no receive: a receive
 * of theirs that matched a copy would fail. Since 1.18 such a frame is shorter than the packet in
 * it, and left out. */
static void repeat_messages(void)
{
    int last = 1;
    for (int i = 0; i < REPETITIONS && !stranger.since_1_18; i++) {
        int to = i % hostile.rank;
        int fd = socket(stranger.ports[to].ss_family, SOCK_STREAM, 0);
        if (!connect(fd, (struct sockaddr *)&stranger.ports[to], sizeof(struct sockaddr_in)) &&
            greet(fd)) {
            out.length = 0;
            append_short_header();
            deliver(fd);
        }
        close(fd);
    }
    for (int to = 0; to < hostile.rank; to++)
        MPI_Send(&last, 1, MPI_INT, to, TICK, MPI_COMM_WORLD);
}

/* Takes over connections of ranks that exchange no message at that time, whose messages would be
 * lost. */
static void take_over(void)
{
    hostile_tick(REPLY);
    for (int i = 0; i < TAKEOVERS; i++) {
        check_step("taking over connection %d", i);
        int to = (int)any((uint64_t)hostile.rank);
        stranger.as = (to + 1 + (int)any((uint64_t)hostile.rank - 1)) % hostile.rank;
        connect_and_forge(to, 1 + (int)any(FRAMES / 8));
        hostile_tick(REPLY); /* what is sent before the victim reads that it is closed is lost */
        hostile_tick(i == TAKEOVERS - 1);
    }
}

/* ---- The other ranks */

static void exchange(int round, uint64_t *seed)
{
    static const int sizes[] = {0, 8, 3000, 20000, LONGEST};
    static unsigned char mine[LONGEST], other[LONGEST];
    int rank, size, bytes = sizes[check_random(seed, 5)];
    MPI_Comm_rank(hostile.victims, &rank);
    MPI_Comm_size(hostile.victims, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    check_fill(mine, (size_t)bytes, rank, 0, round);
    memset(other, 0, (size_t)bytes);
    MPI_Sendrecv(mine, bytes, MPI_BYTE, to, DATA, other, bytes, MPI_BYTE, from, DATA,
                 hostile.victims, MPI_STATUS_IGNORE);
    CHECK_DATA(other, bytes, from, 0, round);
}

/* Takes the copies of messages out of the provider by probes, and expects none of them. */
static void refuse_copies(void)
{
    uint64_t seed = hostile.random;
    int found = 0, last;
    for (int round = 0; round < REPETITIONS; round++)
        exchange(round, &seed);
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("taking copies of messages");
    while (!found)
        MPI_Iprobe(hostile.rank, TICK, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Recv(&last, 1, MPI_INT, hostile.rank, TICK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, hostile.victims, &found, MPI_STATUS_IGNORE);
    CHECK(!found, "a copy of an earlier message is found by a probe");
}

/* Makes progress until nothing is under way to this rank, and all closed connections are read.
 * ofi_rxm looks for those every 10 ms, at a call. */
static void settle(void)
{
    for (int i = 0; i < QUIET_TURNS; i++) {
        int found;
        usleep(QUIET_US);
        MPI_Iprobe(MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
}

/* Receives nothing but ticks while the hostile rank takes over a connection, and then exchanges
 * messages over the connection that replaces it. */
static void endure_takeovers(void)
{
    uint64_t seed = hostile.random;
    for (int tick = 0, round = 0; tick != 1; round++) {
        check_step("waiting for takeover %d", round / 2);
        MPI_Recv(&tick, 1, MPI_INT, hostile.rank, TICK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (tick != REPLY)
            exchange(round, &seed);
        settle();
        MPI_Send(NULL, 0, MPI_BYTE, hostile.rank, TOCK, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 3);
    long frames = check_setting("WEFT_TEST_FORGED", FORGED);
    const char *provider = weft_net.choice.row->pattern;
    protocol = strstr(provider, "ofi_rxm") ? RXM : strstr(provider, "sockets") ? SOCKETS : NET;
    hostile_begin(check_setting("WEFT_TEST_SEED", FIXED_SEED));
    if (check.rank == hostile.rank) {
        stranger.since_1_18 = FI_VERSION_GE(fi_version(), FI_VERSION(1, 18));
        for (int rank = 0; rank < hostile.rank; rank++)
            victim_address(rank, &stranger.ports[rank], sizeof stranger.ports[rank]);
        stranger.as = NOBODY;
        attack(frames);
        MPI_Barrier(MPI_COMM_WORLD);
        if (protocol == RXM) {
            MPI_Barrier(MPI_COMM_WORLD);
            repeat_messages();
        }
        if (protocol != NET)
            take_over();
        printf("%ld connections refused\n", stranger.refused);
    } else {
        endure(exchange);
        MPI_Barrier(MPI_COMM_WORLD);
        if (protocol == RXM)
            refuse_copies();
        if (protocol != NET)
            endure_takeovers();
        MPI_Comm_free(&hostile.victims);
    }
    count_dropped(frames, "frames");
    return check_done();
}
