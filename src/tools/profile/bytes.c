// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bytes of calls and peers of messages, by the kinds of parameters. What is known of a function is
 * prepared once, so that a call reads a few numbers.
 */
#include "tools/profile/profile.h"
#include "core/base/assert.h"

#include <string.h>

enum { PREDEFINED = 0x1000 };

static struct plan {
    uint8_t class;
    bool blocks;           /* the count is that of each rank's block */
    bool receives_blocks;  /* the same of the result */
    bool synchronizing;    /* no rank leaves before the last has entered, if all have data */
    bool is_write;         /* of a file, or to a window */
    int16_t data, instead; /* parameters: the data; the result, which is read with MPI_IN_PLACE */
    bool own_block;        /* of the result: it has a count for each rank, and the data have one */
    bool neighbors;        /* a block, or blocks, for each neighbor */
    bool at;               /* of a file: at the offset that is the parameter before the data */
    bool follows;          /* of a file: from the rank's own pointer on */
    int16_t peer, comm, win;
    int16_t counts;      /* the data of each rank, which all ranks pass alike; -1: there are none */
    int16_t count, type; /* of data, if it has one of each; -1: it has not */
} plans[WEFT_CALLS];

bool profile_has_bytes[WEFT_CALLS];

/* Sizes of predefined datatypes, and 1; 0: not read yet. */
static int sizes[PREDEFINED];

static const int blocks[] = {
    WEFT_CALL_Alltoall,
    WEFT_CALL_Ialltoall,
    WEFT_CALL_Scatter,
    WEFT_CALL_Iscatter,
    WEFT_CALL_Reduce_scatter_block,
    WEFT_CALL_Ireduce_scatter_block,
    WEFT_CALL_Neighbor_alltoall,
    WEFT_CALL_Ineighbor_alltoall,
};

static const int receives_blocks[] = {WEFT_CALL_Gather, WEFT_CALL_Allgather, WEFT_CALL_Alltoall};

static const int synchronizing[] = {
    WEFT_CALL_Barrier,
    WEFT_CALL_Allreduce,
    WEFT_CALL_Allgather,
    WEFT_CALL_Allgatherv,
    WEFT_CALL_Alltoall,
    WEFT_CALL_Reduce_scatter,
    WEFT_CALL_Reduce_scatter_block,
};

static bool is_among(int call, const int *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == call)
            return true;
    return false;
}

static bool has_object(const struct weft_function *f, enum weft_object_kind object)
{
    return weft_function_find_object(f, object, WEFT_FLOWS_ALL) >= 0;
}

static enum profile_class class_of(const struct weft_function *f)
{
    int does = f->does;
    if (has_object(f, WEFT_OBJECT_FILE))
        return PROFILE_FILE;
    if (has_object(f, WEFT_OBJECT_WIN))
        return PROFILE_RMA;
    if (does & WEFT_DOES_COLLECTIVE)
        return PROFILE_COLLECTIVE;
    if (does & (WEFT_DOES_START | WEFT_DOES_COMPLETE))
        return PROFILE_COMPLETE;
    if (does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE | WEFT_DOES_PROBE))
        return PROFILE_P2P;
    return PROFILE_OTHER;
}

/* An access to a file: the shared pointer is not known. */
static void plan_access(const struct weft_function *f, struct plan *plan)
{
    plan->at = weft_function_find_name(f, "offset") >= 0;
    plan->follows = !plan->at && !strstr(f->name, "_shared") && !strstr(f->name, "_ordered");
}

/* True if data have a count for each rank. */
static bool has_counts(const struct weft_function *f, const struct weft_parameter *data)
{
    return data->about[0] >= 0 && f->parameter[data->about[0]].pointer;
}

static struct plan plan_of(const struct weft_function *f, bool *has_bytes)
{
    struct plan plan = {
        .class = class_of(f),
        .data = weft_function_find(f, WEFT_PARAMETER_DATA, WEFT_FLOWS_READ, 0),
        .instead = weft_function_find(f, WEFT_PARAMETER_DATA, WEFT_FLOWS_OUT, 0),
        .peer = weft_function_find(f, WEFT_PARAMETER_RANK, WEFT_FLOWS_READ, 0),
        .comm = weft_function_find_object(f, WEFT_OBJECT_COMM, WEFT_FLOWS_IN),
        .win = weft_function_find_object(f, WEFT_OBJECT_WIN, WEFT_FLOWS_IN),
        .counts = weft_function_find_name(f, "recvcounts"),
        .neighbors = weft_function_is_neighbor(f),
        .blocks = is_among(f->plain, blocks, sizeof blocks / sizeof *blocks),
        .receives_blocks =
            is_among(f->plain, receives_blocks, sizeof receives_blocks / sizeof *receives_blocks),
        .synchronizing =
            is_among(f->plain, synchronizing, sizeof synchronizing / sizeof *synchronizing),
    };
    bool wants = f->does & WEFT_DOES_FILE || f->does & WEFT_DOES_RMA ||
                 (plan.class == PROFILE_COLLECTIVE && plan.comm >= 0) ||
                 f->does & (WEFT_DOES_SEND | WEFT_DOES_EXCHANGE);
    plan.is_write = plan.data >= 0;
    if (plan.data < 0 && plan.class != PROFILE_P2P)
        plan.data = plan.instead;
    *has_bytes = wants && plan.data >= 0 && f->parameter[plan.data].about[1] >= 0 &&
                 !(f->does & WEFT_DOES_PERSISTENT);
    plan.own_block = *has_bytes && plan.instead >= 0 && !has_counts(f, &f->parameter[plan.data]) &&
                     has_counts(f, &f->parameter[plan.instead]);
    if (plan.class == PROFILE_FILE)
        plan_access(f, &plan);
    plan.count = plan.type = -1;
    if (*has_bytes && f->parameter[plan.data].about[0] >= 0 &&
        !has_counts(f, &f->parameter[plan.data])) {
        plan.count = f->parameter[plan.data].about[0];
        plan.type = f->parameter[plan.data].about[1];
    }
    return plan;
}

void profile_bytes_begin(void)
{
    for (int i = 0; i < WEFT_CALLS; i++)
        plans[i] = plan_of(&weft_functions[i], &profile_has_bytes[i]);
}

enum profile_class profile_class_of(uint32_t function)
{
    return plans[function].class;
}

bool profile_is_synchronizing(const struct weft_call *call)
{
    const struct plan *plan = &plans[call->function - weft_functions];
    if (!plan->synchronizing)
        return false;
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    if (!comm || !comm->all)
        return false;
    for (int i = 0; plan->counts >= 0 && i < comm->size; i++)
        if (weft_call_number(call, plan->counts, i) == 0)
            return false;
    return true;
}

static uint64_t size_of(MPI_Datatype type)
{
    uintptr_t handle = (uintptr_t)type;
    MPI_Count size = 0;
    if (handle < PREDEFINED && sizes[handle])
        return (uint64_t)sizes[handle] - 1;
    weft_next.Type_size_c(type, &size);
    if (handle < PREDEFINED)
        sizes[handle] = (int)size + 1;
    return (uint64_t)size;
}

/* Bytes of elements of a datatype. */
static inline uint64_t product_of(const struct weft_call *call, int count, int type)
{
    int64_t elements = call->values[count].number;
    return elements > 0 ? (uint64_t)elements * size_of(call->values[type].pointer) : 0;
}

/* Bytes of a buffer: of one count, or of a count for each of n ranks. */
static uint64_t bytes_of(const struct weft_call *call, int data, int n)
{
    const struct weft_parameter *p = &call->function->parameter[data];
    int count = p->about[0], type = p->about[1];
    bool types = call->function->parameter[type].pointer;
    uint64_t bytes = 0;
    if (count < 0)
        return size_of(call->values[type].pointer);
    if (!call->function->parameter[count].pointer)
        return product_of(call, count, type);
    for (int i = 0; i < n; i++) {
        int64_t elements = weft_call_number(call, count, i);
        if (elements > 0)
            bytes += (uint64_t)elements * size_of(weft_call_element(call, type, types ? i : 0));
    }
    return bytes;
}

static void add_size(struct profile_count *list, uint64_t bytes)
{
    struct profile_count *count = &list[profile_size_index(bytes)];
    count->n++;
    count->bytes += bytes;
}

static void add_count(struct profile_count *count, uint64_t bytes)
{
    count->n++;
    count->bytes += bytes;
}

/* To a rank of MPI_COMM_WORLD; -1: to another one. */
static void add_to_rank(struct profile_thread *thread, int world, uint64_t bytes)
{
    if (world < 0)
        return;
    weft_assert(world < profile.size);
    int bin = __builtin_expect(profile.fold == 1, 1) ? world : world / profile.fold; /* 20 cycles */
    add_count(&thread->peers[bin], bytes);
    if (profile.distances)
        add_count(&thread->distances[profile.distances[world]], bytes);
}

void profile_bytes_add_message(struct profile_thread *thread, int world, uint64_t bytes)
{
    add_size(thread->sizes[0], bytes);
    add_to_rank(thread, world, bytes);
}

uint64_t profile_bytes_of_send(const struct weft_call *call)
{
    const struct plan *plan = &plans[call->function - weft_functions];
    uint64_t bytes = plan->data >= 0 ? bytes_of(call, plan->data, 0) : 0;
    int partitions = weft_call_find(call, WEFT_PARAMETER_LENGTH, 0);
    return partitions < 0 ? bytes : bytes * (uint64_t)call->values[partitions].number;
}

static int world_of_peer(const struct weft_call *call, const struct plan *plan)
{
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    return comm ? profile_world_of(comm, call->values[plan->peer].number) : -1;
}

static uint64_t add_message(struct profile_thread *thread, const struct weft_call *call,
                            const struct plan *plan, int peer)
{
    if (call->values[plan->peer].number < 0)
        return 0; /* MPI_PROC_NULL */
    uint64_t bytes =
        plan->count < 0 ? bytes_of(call, plan->data, 0) : product_of(call, plan->count, plan->type);
    profile_bytes_add_message(thread, peer >= 0 ? peer : world_of_peer(call, plan), bytes);
    return bytes;
}

/* Bytes of block i of a buffer with a count for each; of the only count for all of them. */
static uint64_t bytes_of_block(const struct weft_call *call, int data, int i)
{
    const struct weft_parameter *p = &call->function->parameter[data];
    bool types = call->function->parameter[p->about[1]].pointer;
    int64_t elements = call->function->parameter[p->about[0]].pointer
                           ? weft_call_number(call, p->about[0], i)
                           : call->values[p->about[0]].number;
    void *type = weft_call_element(call, p->about[1], types ? i : 0);
    return elements > 0 ? (uint64_t)elements * size_of(type) : 0;
}

/* Each neighbor gets a block: that of all, or one of its own. */
static uint64_t add_neighbors(struct profile_thread *thread, const struct weft_call *call,
                              const struct plan *plan, const struct profile_comm *comm)
{
    uint64_t sum = 0, first = 0;
    for (int i = 0; i < comm->n_neighbors; i++) {
        uint64_t bytes = bytes_of_block(call, plan->data, i);
        sum += bytes;
        first = i == 0 ? bytes : first;
        add_to_rank(thread, profile_world_of(comm, comm->neighbors[i]), bytes);
    }
    bool shared =
        !plan->blocks &&
        !call->function->parameter[call->function->parameter[plan->data].about[0]].pointer;
    uint64_t bytes = shared ? first : sum; /* the send buffer of an allgather is one block */
    add_size(thread->sizes[1], bytes);
    return bytes;
}

static uint64_t add_collective(struct profile_thread *thread, const struct weft_call *call,
                               const struct plan *plan)
{
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    int data = plan->data;
    if (!comm || comm->inter) /* one side's arguments may be without meaning */
        return 0;
    bool root = plan->peer < 0 || call->values[plan->peer].number == comm->rank;
    const bool in_place = call->values[data].pointer == MPI_IN_PLACE;
    if (in_place)
        data = plan->instead;
    if (data < 0 || (call->function->parameter[data].root && !root))
        return 0;
    if (plan->neighbors)
        return add_neighbors(thread, call, plan, comm);
    uint64_t bytes;
    if (in_place && plan->own_block)
        bytes = bytes_of_block(call, data, comm->rank);
    else
        bytes = bytes_of(call, data, comm->size) * (uint64_t)(plan->blocks ? comm->size : 1);
    add_size(thread->sizes[1], bytes);
    return bytes;
}

/* Bytes that this rank receives. */
static uint64_t received_by(const struct weft_call *call, const struct plan *plan,
                            const struct profile_comm *comm)
{
    const bool root = plan->peer < 0 || call->values[plan->peer].number == comm->rank;
    const int result = plan->instead;
    if (plan->data >= 0 && call->function->parameter[plan->data].flow == WEFT_FLOW_INOUT)
        return root ? 0 : bytes_of(call, plan->data, 0); /* MPI_Bcast */
    if (result < 0 || call->values[result].pointer == MPI_IN_PLACE ||
        (call->function->parameter[result].root && !root))
        return 0;
    if (call->function->plain == WEFT_CALL_Reduce_scatter)
        return bytes_of_block(call, result, comm->rank);
    return bytes_of(call, result, comm->size) * (uint64_t)(plan->receives_blocks ? comm->size : 1);
}

bool profile_collective_read(const struct weft_call *call, struct profile_collective *collective)
{
    const struct plan *plan = &plans[call->function - weft_functions];
    const int later = WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT;
    if (call->result != MPI_SUCCESS || plan->class != PROFILE_COLLECTIVE || plan->comm < 0 ||
        plan->neighbors || call->function->does & later)
        return false;
    const struct profile_comm *comm = profile_comm_of(call->values[plan->comm].pointer);
    if (!comm || comm->inter)
        return false;
    *collective = (struct profile_collective){
        .comm = comm,
        .root = plan->peer < 0 ? -1 : (int32_t)call->values[plan->peer].number,
        .received = received_by(call, plan, comm)};
    return true;
}

/* The first byte in the file of an access that has moved the pointer; -1: it is not known. */
static int64_t begin_of(MPI_File file, bool at, int64_t offset, uint64_t bytes)
{
    MPI_Datatype etype, filetype;
    MPI_Offset displacement, byte = -1;
    char representation[MPI_MAX_DATAREP_STRING + 1];
    if (!at) {
        if (weft_next.File_get_position(file, &offset) ||
            weft_next.File_get_view(file, &displacement, &etype, &filetype, representation))
            return -1;
        uint64_t unit = size_of(etype);
        offset -= unit ? (int64_t)(bytes / unit) : 0;
        weft_interpose_free_type(&etype);
        weft_interpose_free_type(&filetype);
        if (offset < 0) /* a read that has ended at the end of the file */
            return -1;
    }
    return weft_next.File_get_byte_offset(file, offset, &byte) ? -1 : byte;
}

static uint64_t add_access(struct profile_thread *thread, const struct weft_call *call,
                           const struct plan *plan, uint64_t ticks)
{
    struct profile_access *access = plan->is_write ? &thread->writes : &thread->reads;
    uint64_t bytes = bytes_of(call, plan->data, 0);
    access->calls++;
    access->small += bytes < PROFILE_SMALL;
    access->bytes += bytes;
    access->ticks += ticks;
    if (plan->at || plan->follows) {
        int64_t offset = plan->at ? call->values[plan->data - 1].number : 0;
        int64_t begin = begin_of(call->values[0].pointer, plan->at, offset, bytes);
        access->located += begin >= 0;
        access->aligned +=
            begin >= 0 && begin % PROFILE_ALIGNED == 0 && bytes % PROFILE_ALIGNED == 0;
    }
    return bytes;
}

static uint64_t add_to_window(struct profile_thread *thread, const struct weft_call *call,
                              const struct plan *plan)
{
    uint64_t bytes = bytes_of(call, plan->data, 0);
    const struct profile_comm *comm =
        plan->win < 0 ? NULL : profile_comm_of_win(call->values[plan->win].pointer);
    int target =
        comm && plan->peer >= 0 ? profile_world_of(comm, call->values[plan->peer].number) : -1;
    thread->rma += bytes;
    if (target >= 0)
        add_count(&thread->targets[target / profile.fold], bytes);
    return bytes;
}

uint64_t profile_bytes_add(struct profile_thread *thread, const struct weft_call *call,
                           uint64_t ticks, int peer)
{
    const struct plan *plan = &plans[call->function - weft_functions];
    switch (plan->class) {
    case PROFILE_P2P:
        return add_message(thread, call, plan, peer);
    case PROFILE_COLLECTIVE:
        return add_collective(thread, call, plan);
    case PROFILE_FILE:
        return add_access(thread, call, plan, ticks);
    case PROFILE_RMA:
        return add_to_window(thread, call, plan);
    default:
        return 0;
    }
}
