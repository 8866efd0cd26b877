// SPDX-License-Identifier: BSD-3-Clause
/*
 * The data of a collective access between nodes: see two_phase_internal.h.
 *
 * A message to the owner of a domain has a head, the runs of the sender's data in the domain, as
 * blocks of equal runs at equal distances, and for a write the data. The answer to a read is the
 * number of bytes that the owner has read, and the data, also behind these bytes.
 *
 * Invariants:
 *  - What arrives is checked before it is used: no run leaves the domain.
 *  - The messages of a round of a write stay until the round after the next, because domains with
 *    holes need them again.
 */
#include "core/file/system.h"
#include "core/file/two_phase_internal.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 8 };

struct head {
    struct weft_file_sums sums;
    uint64_t blocks;
};

/* Messages to or from all ranks, one behind the other. */
struct box {
    char *at;
    size_t bytes, space;
    int64_t *sizes, *displs; /* by rank */
};

struct weft_file_exchange {
    struct box out, in[WEFT_FILE_DOMAINS]; /* of a read: requests, in in[0] */
    struct box answers, answered;
    uint64_t got; /* what this rank has read into its domain */
    enum weft_step_state (*then)(void *arg);
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- Boxes */

/* Memory for n bytes more, valid until the next call. */
static char *append(struct box *box, size_t n)
{
    if (box->bytes + n > box->space) {
        box->space = 2 * box->space > box->bytes + n ? 2 * box->space : box->bytes + n;
        box->at = realloc(box->at, box->space);
        if (!box->at)
            weft_fatal(MPI_ERR_NO_MEM, "no memory for %zu bytes of data for a file", box->space);
    }
    box->bytes += n;
    return box->at + (box->bytes - n);
}

static void clear(struct box *box, int ranks)
{
    box->bytes = 0;
    memset(box->sizes, 0, (size_t)ranks * sizeof *box->sizes);
}

static void begin_box(struct box *box, int ranks)
{
    box->sizes = weft_memory_get(2 * (size_t)ranks, sizeof *box->sizes, "the sizes of data");
    box->displs = box->sizes + ranks;
    clear(box, ranks);
}

static void end_box(struct box *box)
{
    free(box->at);
    free(box->sizes);
}

void weft_file_exchange_begin(struct weft_file_access *access)
{
    int ranks = access->file->comm->size;
    struct weft_file_exchange *exchange =
        weft_memory_get(1, sizeof *exchange, "an exchange of data");
    begin_box(&exchange->out, ranks);
    begin_box(&exchange->answers, ranks);
    begin_box(&exchange->answered, ranks);
    for (int i = 0; i < WEFT_FILE_DOMAINS; i++)
        begin_box(&exchange->in[i], ranks);
    access->exchange = exchange;
}

void weft_file_exchange_end(struct weft_file_access *access)
{
    struct weft_file_exchange *exchange = access->exchange;
    if (!exchange)
        return;
    end_box(&exchange->out);
    end_box(&exchange->answers);
    end_box(&exchange->answered);
    for (int i = 0; i < WEFT_FILE_DOMAINS; i++)
        end_box(&exchange->in[i]);
    free(exchange);
}

/* Adds the exchange of messages; the sizes of both boxes are known. */
static void add_bytes(struct weft_file_access *access, struct box *out, struct box *in)
{
    struct weft_schedule *s = access->s;
    struct weft_arrays *arrays = weft_schedule_memory(s, 2 * sizeof *arrays);
    int64_t sent = 0, received = 0;
    if (!arrays)
        return;
    for (int i = 0; i < access->file->comm->size; i++) {
        out->displs[i] = sent;
        in->displs[i] = received;
        sent += out->sizes[i];
        received += in->sizes[i];
    }
    weft_assert(sent == (int64_t)out->bytes);
    in->bytes = 0;
    append(in, (size_t)received);
    arrays[0] = (struct weft_arrays){{out->sizes, true}, {out->displs, true}, NULL};
    arrays[1] = (struct weft_arrays){{in->sizes, true}, {in->displs, true}, NULL};
    weft_file_add_collective(
        access, (struct weft_coll_args){
                    .kind = WEFT_COLL_ALLTOALLV,
                    .in = {.at = out->at, .type = weft_datatype_byte(), .arrays = &arrays[0]},
                    .out = {.at = in->at, .type = weft_datatype_byte(), .arrays = &arrays[1]}});
}

/* Adds the exchange of the sizes of messages. */
static void add_sizes(struct weft_file_access *access, struct box *in)
{
    struct box *out = &access->exchange->out;
    size_t each = sizeof *out->sizes;
    weft_file_add_collective(
        access, (struct weft_coll_args){
                    .kind = WEFT_COLL_ALLTOALL,
                    .in = {.at = out->sizes, .count = each, .type = weft_datatype_byte()},
                    .out = {.at = in->sizes, .count = each, .type = weft_datatype_byte()}});
}

/* Checks the sizes that have arrived. Returns false if one is wrong: the schedule ends. */
static bool check_sizes(struct weft_file_access *access, const struct box *in)
{
    int64_t most =
        (int64_t)(sizeof(struct head) + ALIGNMENT) +
        access->domain * (int64_t)(sizeof(struct weft_file_block) + 1); /* runs of one byte */
    for (int i = 0; i < access->file->comm->size; i++) {
        if (in->sizes[i] >= 0 && in->sizes[i] <= most && in->sizes[i] % ALIGNMENT == 0)
            continue;
        int code = weft_error_set(MPI_ERR_OTHER,
                                  "%.200s: rank %d announced %lld bytes for a domain of the "
                                  "file; do all ranks use the same build of Weft?",
                                  access->file->name, i, (long long)in->sizes[i]);
        weft_schedule_fail(access->s, code, WEFT_FAULT_RECORDED);
        return false;
    }
    return true;
}

/* ---- Messages */

/* The runs of the data in a domain, as blocks. */
static struct head add_blocks(const struct weft_file_access *access, struct weft_file_round round,
                              int index, struct weft_file_positions p)
{
    struct weft_file_blocks blocks;
    struct weft_file_block block;
    struct head head = {{0}, 0};
    weft_file_begin_blocks(&blocks, access, round, index, p);
    while (weft_file_next_block(&blocks, &block)) {
        weft_file_add_block(&head.sums, block);
        memcpy(append(&access->exchange->out, sizeof block), &block, sizeof block);
        head.blocks++;
    }
    return head;
}

/* A message to the owner of each domain on another node that has data of this rank. */
static void fill_out(const struct weft_file_access *access, struct weft_file_round round)
{
    struct box *out = &access->exchange->out;
    const struct weft_file_data *data = &access->data;
    clear(out, access->file->comm->size);
    for (int index = 0; index < access->file->nowners; index++) {
        int rank = access->file->owners[index];
        struct weft_file_positions p = weft_file_positions_in(access, round, index);
        size_t begin = out->bytes, n = p.to > p.from ? p.to - p.from : 0;
        if (weft_file_maps(access, rank) || !n)
            continue;
        append(out, sizeof(struct head));
        struct head head = add_blocks(access, round, index, p);
        memcpy(out->at + begin, &head, sizeof head);
        if (access->write) {
            char *to = append(out, aligned(n));
            size_t done = p.from - access->from;
            memset(to + n, 0, aligned(n) - n);
            if (access->memory)
                memcpy(to, access->memory + done, n);
            else
                weft_datatype_pack(data->type, data->buffer, done, to, n);
        }
        out->sizes[rank] = (int64_t)(out->bytes - begin);
    }
}

/* A message that was checked. */
struct message {
    struct head head;
    const struct weft_file_block *blocks;
    char *data;
    uint64_t bytes; /* of all runs */
};

/* Returns true if the message that arrived from a rank is a valid one. */
static bool parse(const struct weft_file_access *access, const struct box *box, int rank,
                  struct message *message)
{
    char *at = box->at + box->displs[rank];
    size_t size = (size_t)box->sizes[rank], blocks;
    if (size < sizeof message->head)
        return false;
    memcpy(&message->head, at, sizeof message->head);
    size -= sizeof message->head;
    if (message->head.blocks > size / sizeof(struct weft_file_block))
        return false;
    blocks = (size_t)message->head.blocks;
    size -= blocks * sizeof(struct weft_file_block);
    message->blocks = (const struct weft_file_block *)(at + sizeof message->head);
    message->data = at + sizeof message->head + blocks * sizeof(struct weft_file_block);
    if (!weft_file_check_blocks(message->blocks, blocks, (uint64_t)access->domain, &message->bytes))
        return false;
    const struct weft_file_sums *sums = &message->head.sums;
    return sums->bytes == message->bytes && sums->runs > 0 && sums->first >= 0 &&
           sums->first < sums->end && sums->end <= access->domain &&
           (!access->write || message->bytes <= size);
}

static void copy_runs(char *domain, const struct message *message, char *packed, bool into_domain)
{
    for (size_t i = 0; i < message->head.blocks; i++) {
        struct weft_file_block block = message->blocks[i];
        for (uint64_t j = 0; j < block.count; j++, packed += block.bytes) {
            char *at = domain + block.at + (int64_t)j * block.stride;
            memcpy(into_domain ? at : packed, into_domain ? packed : at, block.bytes);
        }
    }
}

/* One call for each run of a message. */
static void write_runs(struct weft_file_access *access, struct weft_file_round round,
                       const struct message *message)
{
    const struct weft_file *file = access->file;
    int64_t begin = weft_file_domain_begin(access, round, file->own);
    char *packed = message->data;
    size_t moved;
    for (size_t i = 0; i < message->head.blocks; i++) {
        struct weft_file_block block = message->blocks[i];
        for (uint64_t j = 0; j < block.count && !weft_file_has_failed(access);
             j++, packed += block.bytes)
            weft_file_note_error(access,
                                 weft_file_transfer(file->name, file->fd, true,
                                                    begin + block.at + (int64_t)j * block.stride,
                                                    packed, block.bytes, &moved));
    }
}

/* Answers a request. */
static void add_answer(const struct weft_file_access *access, struct weft_file_round round,
                       int rank, const struct message *message)
{
    struct box *answers = &access->exchange->answers;
    size_t bytes = aligned(message->bytes);
    char *to = append(answers, bytes);
    memset(to + message->bytes, 0, bytes - message->bytes);
    copy_runs(weft_file_domain(access, round, access->file->own), message, to, false);
    answers->sizes[rank] += (int64_t)bytes;
}

enum use { INTO_DOMAIN, INTO_FILE, ANSWER };

/* Uses the message of a rank, if there is one. */
static void use_message(struct weft_file_access *access, struct weft_file_round round, int rank,
                        enum use use)
{
    int number = use == ANSWER ? 0 : round.number % WEFT_FILE_DOMAINS, own = access->file->own;
    const struct box *in = &access->exchange->in[number];
    struct message message;
    if (!in->sizes[rank])
        return;
    if (own < 0 || !parse(access, in, rank, &message)) {
        weft_file_note_error(
            access, weft_error_set(MPI_ERR_OTHER,
                                   "%.200s: the data that rank %d sent for a domain of the file "
                                   "are not valid; do all ranks use the same build of Weft?",
                                   access->file->name, rank));
    } else if (use == INTO_FILE) {
        write_runs(access, round, &message);
    } else if (use == ANSWER) {
        add_answer(access, round, rank, &message);
    } else {
        copy_runs(weft_file_domain(access, round, own), &message, message.data, true);
        *weft_file_sums_for(access, round, rank) = message.head.sums;
    }
}

/* ---- Writing */

static struct box *arrived(const struct weft_file_access *access)
{
    return &access->exchange->in[access->round.number % WEFT_FILE_DOMAINS];
}

static enum weft_step_state use_data(void *arg)
{
    struct weft_file_access *access = arg;
    for (int rank = 0; rank < access->file->comm->size; rank++) {
        if (access->file->own >= 0 && !weft_file_maps(access, rank))
            *weft_file_sums_for(access, access->round, rank) = (struct weft_file_sums){0};
        use_message(access, access->round, rank, INTO_DOMAIN);
    }
    return access->exchange->then(access);
}

static enum weft_step_state exchange_data(void *arg)
{
    struct weft_file_access *access = arg;
    if (check_sizes(access, arrived(access))) {
        add_bytes(access, &access->exchange->out, arrived(access));
        weft_file_then(access, use_data);
    }
    return WEFT_STEP_DONE;
}

void weft_file_send_data(struct weft_file_access *access, enum weft_step_state (*then)(void *arg))
{
    access->exchange->then = then;
    fill_out(access, access->round);
    add_sizes(access, arrived(access));
    weft_file_then(access, exchange_data);
}

void weft_file_put_again(struct weft_file_access *access, struct weft_file_round round,
                         bool into_file)
{
    for (int rank = 0; rank < access->file->comm->size; rank++)
        use_message(access, round, rank, into_file ? INTO_FILE : INTO_DOMAIN);
}

/* ---- Reading */

/* The bytes that the owners will send. */
static void expect_answers(const struct weft_file_access *access, struct weft_file_round round)
{
    struct box *answered = &access->exchange->answered;
    clear(answered, access->file->comm->size);
    for (int index = 0; index < access->file->nowners; index++) {
        int rank = access->file->owners[index];
        struct weft_file_positions p = weft_file_positions_in(access, round, index);
        if (!weft_file_maps(access, rank) && p.to > p.from)
            answered->sizes[rank] = (int64_t)(sizeof(uint64_t) + aligned(p.to - p.from));
    }
}

/* The requests have arrived. */
static enum weft_step_state answer(void *arg)
{
    struct weft_file_access *access = arg;
    struct weft_file_exchange *exchange = access->exchange;
    const struct box *requests = &exchange->in[0];
    struct box *answers = &exchange->answers;
    clear(answers, access->file->comm->size);
    for (int rank = 0; rank < access->file->comm->size; rank++) {
        if (!requests->sizes[rank])
            continue;
        memcpy(append(answers, sizeof exchange->got), &exchange->got, sizeof exchange->got);
        answers->sizes[rank] = sizeof exchange->got;
        use_message(access, access->round, rank, ANSWER);
    }
    expect_answers(access, access->round);
    add_bytes(access, answers, &exchange->answered);
    weft_file_then(access, exchange->then);
    return WEFT_STEP_DONE;
}

static enum weft_step_state exchange_requests(void *arg)
{
    struct weft_file_access *access = arg;
    struct weft_file_exchange *exchange = access->exchange;
    if (check_sizes(access, &exchange->in[0])) {
        add_bytes(access, &exchange->out, &exchange->in[0]);
        weft_file_then(access, answer);
    }
    return WEFT_STEP_DONE;
}

void weft_file_fetch_data(struct weft_file_access *access, uint64_t got,
                          enum weft_step_state (*then)(void *arg))
{
    access->exchange->then = then;
    access->exchange->got = got;
    fill_out(access, access->round);
    add_sizes(access, &access->exchange->in[0]);
    weft_file_then(access, exchange_requests);
}

const char *weft_file_fetched(const struct weft_file_access *access, int index, uint64_t *got)
{
    const struct box *answered = &access->exchange->answered;
    const char *at = answered->at + answered->displs[access->file->owners[index]];
    memcpy(got, at, sizeof *got);
    return at + sizeof *got;
}
