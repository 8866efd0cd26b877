// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm,shm-copy,shm-small seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Messages between different but matching datatypes: a random nested type is sent and received by a
 * type of the same basic elements in other places, or as bytes, or the other way round; eager,
 * synchronous and rendezvous, posted and unexpected. Receives are larger than what comes now and
 * then, and then MPI_Get_elements tells how much came. All types are freed while their messages are
 * under way.
 */
#include "check.h"

#include "../typemap.h"

enum { TAG = 5, ROUNDS = 40, MOST_BYTES = 3 << 20 };

/* Memory for count elements, and where the buffer begins in it or beside it. */
struct memory {
    unsigned char *all, *base;
    long low, bytes, data;
    long *places;
};

static struct memory memory_of(const struct map *map, long count)
{
    struct memory m = {.data = map_size(map) * count, .places = map_places(map, count)};
    long high = 0;
    for (long i = 0; i < m.data; i++) {
        m.low = i == 0 || m.places[i] < m.low ? m.places[i] : m.low;
        high = i == 0 || m.places[i] >= high ? m.places[i] + 1 : high;
    }
    m.bytes = high - m.low;
    m.all = check_alloc((size_t)m.bytes);
    m.base = (unsigned char *)((uintptr_t)m.all - (uintptr_t)m.low);
    memset(m.all, CHECK_GUARD_BYTE, (size_t)m.bytes);
    return m;
}

static void memory_free(struct memory *m)
{
    free(m->all);
    free(m->places);
}

static unsigned char *byte_of(const struct memory *m, long i)
{
    return &m->all[m->places[i] - m->low];
}

/* The same basic elements as `map`, once more and `more` of them again, where they do not overlap:
 * upwards or downwards in memory, sometimes with gaps. */
static struct mapped elsewhere(struct map_random *random, const struct map *map, long count,
                               int more)
{
    long n = map->count * count + more, at = 0;
    int *lengths = check_host((size_t)n * sizeof *lengths);
    MPI_Aint *places = check_host((size_t)n * sizeof *places);
    MPI_Datatype *types = check_host((size_t)n * sizeof(MPI_Datatype));
    struct mapped m = {0};
    bool down = map_pick(random, 0, 1), gaps = map_pick(random, 0, 2);
    for (long i = 0; i < n; i++) {
        struct map_entry entry = map->entries[i % map->count];
        at += down ? -entry.bytes - (gaps ? map_pick(random, 0, 2) : 0) : 0;
        lengths[i] = 1;
        places[i] = at;
        types[i] = entry.basic;
        map_add(&m.map, at, entry);
        at += down ? 0 : entry.bytes + (gaps ? map_pick(random, 0, 2) : 0);
    }
    MPI_Type_create_struct((int)n, lengths, places, types, &m.type);
    free(lengths);
    free(places);
    free(types);
    return m;
}

static struct mapped as_bytes(long bytes)
{
    struct mapped m = {MPI_BYTE, {0}};
    (void)bytes;
    map_add(&m.map, 0, (struct map_entry){0, 1, 1, MPI_BYTE});
    return m;
}

struct side {
    struct mapped type;
    long count;
    struct memory memory;
};

static bool overlaps(const struct memory *m)
{
    bool found = false;
    for (long i = 0; i < m->data; i++) {
        found = found || *byte_of(m, i) != CHECK_GUARD_BYTE;
        *byte_of(m, i) = 0;
    }
    memset(m->all, CHECK_GUARD_BYTE, (size_t)m->bytes);
    return found;
}

static void check_received(const struct side *in, const struct side *out, long elements,
                           MPI_Datatype type, const MPI_Status *st)
{
    long bytes = out->memory.data;
    MPI_Count n = -1;
    MPI_Get_elements_c(st, type, &n);
    CHECK(n == elements, "MPI_Get_elements says %lld, not %ld", (long long)n, elements);
    MPI_Get_count_c(st, type, &n);
    long size = map_size(&in->type.map);
    long whole = !bytes ? 0 : !size || bytes % size ? MPI_UNDEFINED : bytes / size;
    CHECK(n == whole, "MPI_Get_count says %lld, not %ld", (long long)n, whole);
    long wrong = 0;
    for (long i = 0; i < bytes; i++) {
        wrong += *byte_of(&in->memory, i) != *byte_of(&out->memory, i);
        *byte_of(&in->memory, i) = CHECK_GUARD_BYTE;
    }
    CHECK(wrong == 0, "%ld of %ld bytes are wrong", wrong, bytes);
    for (long i = wrong = 0; i < in->memory.bytes; i++)
        wrong += in->memory.all[i] != CHECK_GUARD_BYTE;
    CHECK(wrong == 0, "%ld bytes that are no data were written", wrong);
}

static void send(struct side *out, int to, bool sync, MPI_Request *request)
{
    (sync ? MPI_Issend_c : MPI_Isend_c)(out->memory.base, out->count, out->type.type, to, TAG,
                                        MPI_COMM_WORLD, request);
    mapped_free(&out->type);
}

static void exchange(struct map_random *random, int round)
{
    int from = round % check.size, to = (from + 1) % check.size;
    struct mapped one = mapped_random(random, map_pick(random, 1, MAP_DEPTH));
    long size = map_size(&one.map), count = map_pick(random, 0, 20);
    if (size && map_pick(random, 0, 4) == 0)
        count = MOST_BYTES / 100 / size * map_pick(random, 1, 100);
    if (!size || count * one.map.count > 200000)
        count = size ? 200000 / one.map.count : 1;
    struct side out = {one, count, memory_of(&one.map, count)}, in;
    long bytes = out.memory.data, elements = one.map.count * count;
    bool sent_only = overlaps(&out.memory), swap = map_pick(random, 0, 1) && !sent_only;
    bool sync = map_pick(random, 0, 3) == 0, posted = map_pick(random, 0, 1);
    if (!size || map_pick(random, 0, 3) == 0) {
        in.type = as_bytes(bytes);
        in.count = bytes + (swap ? 0 : map_pick(random, 0, 9));
        elements = bytes;
    } else {
        int more = swap ? 0 : map_pick(random, 0, 1) * map_pick(random, 0, one.map.count);
        in.type = elsewhere(random, &one.map, count ? count : 1, more);
        in.count = 1;
        if (swap && !count)
            in.count = 0;
    }
    in.memory = memory_of(&in.type.map, in.count);
    if (swap) {
        struct side was = in;
        in = out;
        out = was;
        elements = one.map.count * count;
    }
    for (long i = 0; i < bytes; i++) /* bytes that are sent twice keep their last value */
        *byte_of(&out.memory, i) = (unsigned char)(i * 7 + i / 253);
    MPI_Type_commit(&in.type.type);
    MPI_Type_commit(&out.type.type);
    check_step("round %d: %ld bytes from %d to %d", round, bytes, from, to);
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    MPI_Status st;
    MPI_Datatype kept = MPI_DATATYPE_NULL;
    if (check.rank == to) {
        MPI_Type_dup(in.type.type, &kept);
        if (posted)
            MPI_Irecv_c(in.memory.base, in.count, in.type.type, from, TAG, MPI_COMM_WORLD,
                        &receiving);
    }
    if (posted)
        MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == from)
        send(&out, to, sync, &sending);
    if (!posted)
        MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == to) {
        struct map map = in.type.map;
        if (!posted)
            MPI_Irecv_c(in.memory.base, in.count, in.type.type, from, TAG, MPI_COMM_WORLD,
                        &receiving);
        in.type.map.entries = NULL;
        mapped_free(&in.type);
        in.type.map = map;
        MPI_Wait(&receiving, &st);
        check_received(&in, &out, elements, kept, &st);
        MPI_Type_free(&kept);
    }
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    memory_free(&in.memory);
    memory_free(&out.memory);
    if (check.rank != from)
        mapped_free(&out.type);
    if (check.rank != to)
        mapped_free(&in.type);
    else
        free(in.type.map.entries);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    struct map_random random = {check_seed()};
    uint64_t seed = random.state;
    for (int round = 0; round < ROUNDS; round++) {
        random.state = seed + (uint64_t)round * 1000003;
        exchange(&random, round);
    }
    return check_done();
}
